import Testing

/// One test at a time: some measure the memory of the whole process, and x264 uses all processors by itself.
@Suite(.serialized)
struct X264EncoderTests {}
