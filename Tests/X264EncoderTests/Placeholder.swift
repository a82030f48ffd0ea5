// X264Encoder
