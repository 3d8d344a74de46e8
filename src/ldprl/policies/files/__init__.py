"""Files of other programs: torch's and Stable-Baselines3's are read, ONNX read and written."""
