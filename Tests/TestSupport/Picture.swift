import Foundation

/// A 4:2:0 picture as a value, for comparisons.
package struct Picture: Equatable {
  package var width: Int
  package var height: Int
  package var luma: [UInt8]
  package var blueChroma: [UInt8]
  package var redChroma: [UInt8]

  package init(width: Int, height: Int, luma: [UInt8], blueChroma: [UInt8], redChroma: [UInt8]) {
    self.width = width
    self.height = height
    self.luma = luma
    self.blueChroma = blueChroma
    self.redChroma = redChroma
  }

  /// The same picture at `percent` of its brightness.
  package func darkened(to percent: Int) -> Picture {
    var picture = self
    picture.luma = luma.map { UInt8(Int($0) * percent / 100) }
    return picture
  }

  /// Both planes' bytes in turn, as the formats NV12 and NV21 have them.
  package static func interleaved(_ first: [UInt8], _ second: [UInt8]) -> [UInt8] {
    zip(first, second).flatMap { [$0, $1] }
  }

  /// Peak signal-to-noise ratio in dB between two planes of the same size.
  package static func psnr(_ left: [UInt8], _ right: [UInt8]) -> Double {
    guard left.count == right.count, !left.isEmpty else { return 0 }
    let sum = zip(left, right).reduce(0) { $0 + (Int($1.0) - Int($1.1)) * (Int($1.0) - Int($1.1)) }
    guard sum > 0 else { return .infinity }
    return 10 * log10(255 * 255 * Double(left.count) / Double(sum))
  }
}
