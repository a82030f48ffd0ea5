import Glibc

/// One plane of a picture in memory.
package struct Plane {
  /// The first pixel of the first row.
  package var base: UnsafeRawPointer
  /// Bytes from one row to the next.
  package var stride: Int

  package init(base: UnsafeRawPointer, stride: Int) {
    self.base = base
    self.stride = stride
  }
}

/// The planes of one picture in the order of its pixel format, borrowed for one call.
///
/// x264 reads the rows of each plane up to the picture's width; what pads a row is not touched.
package struct Planes {
  package var first: Plane
  package var second: Plane
  /// Only for formats with three planes.
  package var third: Plane?

  package init(_ first: Plane, _ second: Plane, _ third: Plane? = nil) {
    self.first = first
    self.second = second
    self.third = third
  }
}

extension Planes {
  /// Whether two pictures of one format and size have the same pixels. Ends with the first row that differs; what pads
  /// a row belongs to no picture and is not read.
  ///
  /// Planes that lie in the same place hold the same bytes, whatever has been written there since the other picture was
  /// taken. That proves nothing, so it counts as a difference.
  ///
  /// - Parameters:
  ///   - width: in pixels.
  ///   - height: in pixels.
  package func haveSamePixels(as other: Planes, width: Int, height: Int) -> Bool {
    let chromaWidth = (width + 1) / 2
    let chromaHeight = (height + 1) / 2
    guard first.hasSameRows(as: other.first, rowBytes: width, count: height) else { return false }
    switch (third, other.third) {
    case (let third?, let otherThird?):
      return second.hasSameRows(as: other.second, rowBytes: chromaWidth, count: chromaHeight)
        && third.hasSameRows(as: otherThird, rowBytes: chromaWidth, count: chromaHeight)
    case (nil, nil):
      // Both kinds of chroma alternate in the second plane.
      return second.hasSameRows(as: other.second, rowBytes: 2 * chromaWidth, count: chromaHeight)
    default: return false
    }
  }
}

extension Plane {
  fileprivate func hasSameRows(as other: Plane, rowBytes: Int, count: Int) -> Bool {
    guard rowBytes > 0, count > 0, stride >= rowBytes, other.stride >= rowBytes,
      !extent(rowBytes, count).overlaps(other.extent(rowBytes, count))
    else { return false }
    if stride == rowBytes, other.stride == rowBytes { return memcmp(base, other.base, rowBytes * count) == 0 }
    for row in 0..<count where memcmp(base + row * stride, other.base + row * other.stride, rowBytes) != 0 {
      return false
    }
    return true
  }

  private func extent(_ rowBytes: Int, _ count: Int) -> Range<UnsafeRawPointer> {
    base..<(base + (count - 1) * stride + rowBytes)
  }
}
