import Foundation
import TestSupport
import X264Encoder

extension Picture {
  /// The planes in the order and interleaving of `format`, without padding.
  func planes(in format: PixelFormat) -> [(bytes: [UInt8], rowLength: Int)] {
    switch format {
    case .i420: [(luma, width), (blueChroma, width / 2), (redChroma, width / 2)]
    case .yv12: [(luma, width), (redChroma, width / 2), (blueChroma, width / 2)]
    case .nv12: [(luma, width), (Self.interleaved(blueChroma, redChroma), width)]
    case .nv21: [(luma, width), (Self.interleaved(redChroma, blueChroma), width)]
    }
  }
}

/// A picture's planes in memory, with padded rows, or at the end of the readable memory.
struct PictureMemory: ~Copyable {
  private var regions: [(base: UnsafeMutableRawPointer, byteCount: Int)] = []
  private(set) var descriptions: [Plane] = []

  /// Every plane ends at a page that can't be read, so that an encoder that reads on crashes.
  init(_ picture: Picture, format: PixelFormat, padding: Int) throws {
    let page = Int(getpagesize())
    for (bytes, rowLength) in picture.planes(in: format) {
      let stride = rowLength + padding
      let rows = bytes.count / rowLength
      // The last row has no padding.
      let used = stride * (rows - 1) + rowLength
      let mapped = (used + page - 1) / page * page + page
      guard
        let base = mmap(nil, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
        base != MAP_FAILED
      else { throw POSIXError(.ENOMEM) }
      regions.append((base, mapped))
      guard mprotect(base + (mapped - page), page, PROT_NONE) == 0 else { throw POSIXError(.EACCES) }
      let start = base + (mapped - page - used)
      for row in 0..<rows {
        bytes.withUnsafeBytes { source in
          let line = UnsafeRawBufferPointer(rebasing: source[row * rowLength..<(row + 1) * rowLength])
          UnsafeMutableRawBufferPointer(start: start + row * stride, count: rowLength).copyMemory(from: line)
        }
      }
      descriptions.append(Plane(base: UnsafeRawPointer(start), stride: stride))
    }
  }

  deinit {
    for region in regions { munmap(region.base, region.byteCount) }
  }

  var planes: Planes {
    Planes(descriptions[0], descriptions[1], descriptions.count > 2 ? descriptions[2] : nil)
  }
}
