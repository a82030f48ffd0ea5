/// One plane of a picture in memory.
public struct Plane {
  /// The first pixel of the first row.
  public var base: UnsafeRawPointer
  /// Bytes from one row to the next.
  public var stride: Int

  public init(base: UnsafeRawPointer, stride: Int) {
    self.base = base
    self.stride = stride
  }
}

/// The planes of one picture in the order of its pixel format, borrowed for one call.
///
/// x264 reads the rows of each plane up to the picture's width; what pads a row is not touched.
public struct Planes {
  public var first: Plane
  public var second: Plane
  /// Only for formats with three planes.
  public var third: Plane?

  public init(_ first: Plane, _ second: Plane, _ third: Plane? = nil) {
    self.first = first
    self.second = second
    self.third = third
  }
}
