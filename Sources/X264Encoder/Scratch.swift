import CX264

/// The structures that x264 is called with, allocated once.
final class Scratch {
  let input: UnsafeMutablePointer<x264_picture_t>
  let output: UnsafeMutablePointer<x264_picture_t>
  /// The result of `x264_encoder_parameters`. Strings in it belong to x264.
  let parameters: UnsafeMutablePointer<x264_param_t>

  init(pixelFormat: PixelFormat) {
    input = .allocate(capacity: 1)
    output = .allocate(capacity: 1)
    parameters = .allocate(capacity: 1)
    x264_picture_init(input)
    x264_picture_init(output)
    parameters.initialize(to: x264_param_t())
    input.pointee.img.i_csp = pixelFormat.x264ColourSpace
    input.pointee.img.i_plane = Int32(pixelFormat.planeCount)
  }

  deinit {
    input.deallocate()
    output.deallocate()
    parameters.deallocate()
  }
}
