import GStreamerKit
import Testing

/// A head unit with one of the ready-made scripts, and an app that streams to it.
final class ScriptedHeadUnit {
  /// `pipelines/scripts`.
  static let folder =
    "/" + "\(#filePath)".split(separator: "/").dropLast(3).joined(separator: "/") + "/pipelines/scripts"

  let screen: HeadUnitPipeline
  let app: Pipeline
  let sink: Element

  /// - Parameters:
  ///   - script: name of a file.
  ///   - properties: of the head unit, as for gst-launch.
  ///   - source: what the app shows.
  ///   - sink: properties of the app's sink.
  init(
    _ script: String, _ properties: String = "", source: String = "videotestsrc is-live=true pattern=ball",
    sink: String = ""
  ) throws {
    screen = try HeadUnitPipeline("script=\"\(Self.folder)/\(script).txt\" \(properties)")
    app = try Pipeline("\(source) ! sdlvideosink name=sink key-int-max=15 uri=\(screen.uri) \(sink)")
    self.sink = try app.sink
    try app.play()
  }

  /// Waits for element messages of the app's sink with these names, in this order, with others in between.
  func wait(for names: String...) throws -> [[String: String]] {
    try names.map { try app.waitForElementMessage($0) }
  }

  /// Pulls up to the next beginning of a stream, which must be decodable and of this size.
  func expectStart(
    width: Int = 320, height: Int = 240, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let sample = try screen.pull { $0.isDiscontinuous }
    #expect(try startsStream(sample.bytes) && !sample.isDelta, sourceLocation: sourceLocation)
    #expect(
      sample.caps.contains("width=(int)\(width), height=(int)\(height)"), "\(sample.caps)",
      sourceLocation: sourceLocation)
  }

  func expectNoViolation(sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(
      screen.statistics["violations"] == 0, "\(screen.source["violations"] ?? "")", sourceLocation: sourceLocation)
    #expect(app.drain().allSatisfy { $0.error == nil }, sourceLocation: sourceLocation)
    #expect(sink.statistics.areFramesConserved, sourceLocation: sourceLocation)
  }
}
