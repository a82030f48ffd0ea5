import Foundation
import Testing

/// Pictures as a decoder makes them, in grey.
struct Pictures {
  private let bytes: Data
  private let width: Int
  private let height: Int

  /// - Parameters:
  ///   - source: the part of a gst-launch pipeline that makes the pictures.
  ///   - width: of the pictures, in pixels; divisible by four.
  init(from source: String, width: Int, height: Int, in folder: TemporaryFolder) throws {
    let path = folder.path("pictures-\(UUID().uuidString)")
    let result = try folder.launch(
      "--quiet \(source) ! videoconvert ! video/x-raw,format=GRAY8,width=\(width),height=\(height) ! filesink location=\(path)"
    )
    try #require(result.status == 0, "\(result)")
    bytes = try Data(contentsOf: URL(filePath: path))
    (self.width, self.height) = (width, height)
  }

  var count: Int { bytes.count / (width * height) }

  /// How bright a pixel is, from 0 to 255.
  func brightness(of picture: Int, x: Int, y: Int) -> UInt8 {
    bytes[picture * width * height + y * width + x]
  }

  /// How many pixels of a picture are nearly white.
  func whitePixels(of picture: Int) -> Int {
    bytes[picture * width * height..<(picture + 1) * width * height].count { $0 > 200 }
  }
}
