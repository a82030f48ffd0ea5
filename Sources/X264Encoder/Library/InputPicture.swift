import CX264

extension PixelFormat {
  var x264ColourSpace: Int32 {
    switch self {
    case .i420: X264_CSP_I420
    case .yv12: X264_CSP_YV12
    case .nv12: X264_CSP_NV12
    case .nv21: X264_CSP_NV21
    }
  }
}

extension Planes {
  /// Points `image` at the planes.
  func describe(in image: inout x264_image_t, settings: EncoderSettings) throws(EncoderError) {
    let isPlanar = settings.pixelFormat.planeCount == 3
    guard isPlanar == (third != nil) else {
      throw .invalidPlanes(reason: "it does not have \(settings.pixelFormat.planeCount) planes")
    }
    let chromaRow = isPlanar ? settings.width / 2 : settings.width
    let first = try first.checked(rowBytes: settings.width)
    let second = try second.checked(rowBytes: chromaRow)
    image.plane.0 = first.pixels
    image.plane.1 = second.pixels
    image.i_stride.0 = first.stride
    image.i_stride.1 = second.stride
    if let third = try third?.checked(rowBytes: chromaRow) {
      image.plane.2 = third.pixels
      image.i_stride.2 = third.stride
    }
  }
}

extension Plane {
  /// x264 takes a pointer to mutable pixels, but only reads them.
  fileprivate func checked(
    rowBytes: Int
  ) throws(EncoderError) -> (pixels: UnsafeMutablePointer<UInt8>, stride: Int32) {
    guard stride >= rowBytes, let stride = Int32(exactly: stride) else {
      throw .invalidPlanes(reason: "a stride of \(stride) bytes can't hold rows of \(rowBytes) bytes")
    }
    return (UnsafeMutableRawPointer(mutating: base).assumingMemoryBound(to: UInt8.self), stride)
  }
}
