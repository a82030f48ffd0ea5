import BackgroundNotice
import TestSupport

/// A rectangle of pixels; the upper bounds are outside.
struct PixelBounds {
  var columns: Range<Int>
  var rows: Range<Int>
}

extension NoticePicture {
  static let black: UInt8 = 16
  static let white: UInt8 = 235

  /// The luma without the padding of the rows.
  var visibleLuma: [UInt8] {
    (0..<height).flatMap { luma[$0 * lumaStride..<$0 * lumaStride + width] }
  }

  var isBlack: Bool {
    luma.allSatisfy { $0 == Self.black }
  }

  /// The smallest rectangle around all pixels that are not black; nil when all are.
  var ink: PixelBounds? {
    var columns = (first: width, last: -1)
    var rows = (first: height, last: -1)
    for row in 0..<height {
      let line = luma[row * lumaStride..<row * lumaStride + width]
      guard
        let first = line.firstIndex(where: { $0 != Self.black }), let last = line.lastIndex(where: { $0 != Self.black })
      else { continue }
      rows = (min(rows.first, row), row)
      columns = (min(columns.first, first - line.startIndex), max(columns.last, last - line.startIndex))
    }
    guard rows.last >= 0 else { return nil }
    return PixelBounds(columns: columns.first..<columns.last + 1, rows: rows.first..<rows.last + 1)
  }

  /// The same as a decoder returns it.
  var asPicture: Picture {
    let chroma = [UInt8](repeating: 128, count: width / 2 * (height / 2))
    return Picture(width: width, height: height, luma: visibleLuma, blueChroma: chroma, redChroma: chroma)
  }
}
