"""Guest in a training job: publishes memory and step numbers; standard library only, silent when in doubt."""
