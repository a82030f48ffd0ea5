import Foundation

/// Decodes H.264 with libavcodec through GStreamer, to check what x264 wrote.
package enum StreamDecoder {
  package struct Failed: Error {
    package let status: Int32
    package let output: String
  }

  /// Decodes an Annex B stream.
  ///
  /// - Parameter element: GStreamer's decoder with its properties.
  package static func decode(
    _ stream: [UInt8], width: Int, height: Int, element: String = standard
  ) throws -> [Picture] {
    try decode([(stream, element)], width: width, height: height)[0]
  }

  package static let standard = "avdec_h264 max-threads=1"

  /// Decodes Annex B streams, each with an element, in one process: loading libavcodec takes longer than to decode some
  /// pictures.
  package static func decode(
    _ streams: [(bytes: [UInt8], element: String)], width: Int, height: Int
  ) throws -> [[Picture]] {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    func file(_ index: Int, _ kind: String) -> URL { folder.appendingPathComponent("\(index).\(kind)") }
    for (index, stream) in streams.enumerated() { try Data(stream.bytes).write(to: file(index, "h264")) }
    try launch(
      streams.enumerated().map { index, stream in
        "filesrc location=\(file(index, "h264").path) ! h264parse ! \(stream.element) ! videoconvert"
          + " ! video/x-raw,format=I420 ! filesink location=\(file(index, "i420").path)"
      }.joined(separator: " "))
    return try streams.indices.map { index in
      pictures(in: [UInt8](try Data(contentsOf: file(index, "i420"))), width: width, height: height)
    }
  }

  /// What h264parse finds in the headers, as text.
  package static func parsedCaps(_ stream: [UInt8]) throws -> String {
    try withTemporaryFile(contents: stream) { input in
      try launch("-v filesrc location=\(input) ! h264parse name=parse ! fakesink")
    }
  }

  /// The byte stream in RTP packets with lengths in front.
  package static func depayload(_ stream: [UInt8]) throws -> [UInt8] {
    try convert(
      stream,
      "application/x-rtp-stream,media=video,clock-rate=90000,encoding-name=H264 ! rtpstreamdepay ! rtph264depay"
        + " ! video/x-h264,stream-format=byte-stream,alignment=au")
  }

  /// RTP packets with lengths in front, from a byte stream.
  ///
  /// - Parameter payloader: GStreamer's payloader with its properties.
  package static func payload(_ stream: [UInt8], payloader: String) throws -> [UInt8] {
    try convert(stream, "h264parse ! \(payloader) ! rtpstreampay")
  }

  private static func convert(_ bytes: [UInt8], _ elements: String) throws -> [UInt8] {
    try withTemporaryFile(contents: bytes) { input in
      try withTemporaryFile(contents: []) { output in
        // The buffer of GStreamer 1.22's filesink loses one of 257 small packets.
        try launch("filesrc location=\(input) ! \(elements) ! filesink buffer-mode=unbuffered location=\(output)")
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: output)))
      }
    }
  }

  /// GStreamer's I420 has rows of a multiple of four bytes.
  private static func pictures(in bytes: [UInt8], width: Int, height: Int) -> [Picture] {
    let stride = (width + 3) & ~3
    let chromaStride = (width / 2 + 3) & ~3
    let size = stride * height + chromaStride * height
    func plane(_ start: Int, _ stride: Int, _ width: Int, _ height: Int) -> [UInt8] {
      (0..<height).flatMap { bytes[start + $0 * stride..<start + $0 * stride + width] }
    }
    return (0..<bytes.count / size).map { index in
      let start = index * size
      let chroma = start + stride * height
      return Picture(
        width: width, height: height,
        luma: plane(start, stride, width, height),
        blueChroma: plane(chroma, chromaStride, width / 2, height / 2),
        redChroma: plane(chroma + chromaStride * height / 2, chromaStride, width / 2, height / 2))
    }
  }

  @discardableResult
  private static func launch(_ pipeline: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["gst-launch-1.0"] + pipeline.split(separator: " ").map(String.init)
    // Decoders report concealed errors in the log only.
    process.environment = ProcessInfo.processInfo.environment
      .merging(["GST_DEBUG": "2,basesrc:0", "GST_DEBUG_NO_COLOR": "1"]) { $1 }
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0, !output.contains(" WARN "), !output.contains(" ERROR ") else {
      throw Failed(status: process.terminationStatus, output: output)
    }
    return output
  }

  private static func withTemporaryFile<Result>(
    contents: [UInt8], _ body: (String) throws -> Result
  ) throws -> Result {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data(contents).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    return try body(url.path)
  }
}
