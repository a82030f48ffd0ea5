import TestSupport
import X264Encoder

/// A picture that is larger than those that are encoded. Moving over it gives moving pictures without copying, with
/// strides wider than the picture and planes at any address.
///
/// Unchecked: the memory is written in `init` only and never freed, since panoramas live as long as the process.
final class Panorama: @unchecked Sendable {
  static let width = 1024
  static let height = 640

  /// Smooth shades with hard edges, as a map has them.
  static let smooth = Panorama(grain: 0, seed: 1)
  /// The same with grain that differs from picture to picture and can't be predicted.
  static let grainy = (1...4).map { Panorama(grain: 24, seed: UInt32($0)) }

  /// The hardest to encode.
  static let noise = (5...8).map { Panorama(grain: 255, seed: UInt32($0)) }

  // Each plane has its own pattern, so that exchanged planes are noticed.
  private let luma: UnsafeMutableRawBufferPointer
  private let blueChroma: UnsafeMutableRawBufferPointer
  private let redChroma: UnsafeMutableRawBufferPointer

  private init(grain: Int, seed: UInt32) {
    var random = seed &* 2_654_435_761
    func noise() -> Int {
      guard grain > 0 else { return 0 }
      random = random &* 1_664_525 &+ 1_013_904_223
      return Int(random >> 16) % (2 * grain) - grain
    }
    luma = Self.plane(Self.width, Self.height) { x, y in
      60 + (x + 2 * y) % 97 + (((x / 48) ^ (y / 40)) & 1) * 50 + noise()
    }
    blueChroma = Self.plane(Self.width / 2, Self.height / 2) { x, y in 70 + (x / 4) % 50 + ((y / 30) & 1) * 30 }
    redChroma = Self.plane(Self.width / 2, Self.height / 2) { x, y in 200 - (y / 3) % 60 - ((x / 50) & 1) * 20 }
  }

  private static func plane(
    _ width: Int, _ height: Int, _ value: (Int, Int) -> Int
  ) -> UnsafeMutableRawBufferPointer {
    let plane = UnsafeMutableRawBufferPointer.allocate(byteCount: width * height, alignment: 64)
    for row in 0..<height {
      for column in 0..<width {
        plane[row * width + column] = UInt8(clamping: value(column, row))
      }
    }
    return plane
  }

  /// Where the n-th picture of a slow pan begins.
  static func pan(_ index: Int) -> (x: Int, y: Int) {
    (x: (index * 4) % 192, y: (index * 2) % 128)
  }

  /// The picture at an even position, with the planes of I420.
  func planes(at position: (x: Int, y: Int)) throws -> Planes {
    let chroma = position.y / 2 * Self.width / 2 + position.x / 2
    return Planes(
      Plane(base: try address(luma, position.y * Self.width + position.x), stride: Self.width),
      Plane(base: try address(blueChroma, chroma), stride: Self.width / 2),
      Plane(base: try address(redChroma, chroma), stride: Self.width / 2))
  }

  /// The same picture as a value.
  func picture(at position: (x: Int, y: Int), width: Int, height: Int) -> Picture {
    func cut(_ plane: UnsafeMutableRawBufferPointer, _ scale: Int) -> [UInt8] {
      (0..<height / scale).flatMap { row in
        let start = (position.y / scale + row) * Self.width / scale + position.x / scale
        return plane[start..<start + width / scale]
      }
    }
    return Picture(
      width: width, height: height, luma: cut(luma, 1), blueChroma: cut(blueChroma, 2), redChroma: cut(redChroma, 2))
  }

  private func address(_ plane: UnsafeMutableRawBufferPointer, _ offset: Int) throws -> UnsafeRawPointer {
    struct NoMemory: Error {}
    guard let base = plane.baseAddress else { throw NoMemory() }
    return UnsafeRawPointer(base) + offset
  }
}
