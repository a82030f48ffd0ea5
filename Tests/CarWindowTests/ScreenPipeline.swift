import CGStreamerApp
import Foundation
import GStreamerKit
import SDLLink
import SDLMessages

@testable import Plugin
@testable import PluginTestSupport

/// Programs of this folder, as commands.
func program(_ name: String) -> String {
  "/usr/bin/python3 \(URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Programs/\(name)").path)"
}

/// An `sdlcarwindowsrc` with the name "src", whose pictures go to an appsink, as pixels of BGRx.
final class ScreenPipeline {
  enum Color: Equatable {
    case blue, red, green, yellow, white, cyan
    case other(blue: UInt8, green: UInt8, red: UInt8)

    init(_ pixel: ArraySlice<UInt8>) {
      let (blue, green, red) = (pixel[pixel.startIndex], pixel[pixel.startIndex + 1], pixel[pixel.startIndex + 2])
      switch (blue, green, red) {
      case (255, 0, 0): self = .blue
      case (0, 0, 255): self = .red
      case (0, 255, 0): self = .green
      case (0, 255, 255): self = .yellow
      case (255, 255, 0): self = .cyan
      case (255, 255, 255): self = .white
      default: self = .other(blue: blue, green: green, red: red)
      }
    }
  }

  struct Picture {
    let width: Int
    let height: Int
    let bytes: [UInt8]

    subscript(x: Int, y: Int) -> Color {
      let offset = (y * width + x) * 4
      return offset + 4 <= bytes.count ? Color(bytes[offset..<offset + 4]) : .other(blue: 1, green: 2, red: 3)
    }

    /// Next to the four corners.
    var corners: [Color] { [self[2, 2], self[width - 3, 2], self[2, height - 3], self[width - 3, height - 3]] }
  }

  let pipeline: Pipeline
  let source: Element
  private let output: Element

  /// - Parameters:
  ///   - properties: of the source, as for gst-launch.
  ///   - onNegotiation: called with the source while it asks for the size, before there is a screen.
  init(
    _ properties: String, width: Int = 320, height: Int = 240, onNegotiation: ((Element) -> Void)? = nil
  ) throws {
    pipeline = try Pipeline(
      "sdlcarwindowsrc name=src \(properties) ! capsfilter name=size caps=\(Self.caps(width, height)) "
        + "! appsink name=out sync=false max-buffers=2 drop=true wait-on-eos=false")
    source = try pipeline["src"]
    output = try pipeline["out"]
    if let onNegotiation {
      // The pad belongs to the pipeline, and the probe to the pad.
      _ = NegotiationHook(.query, VideoSize(width, height)) { [source] in onNegotiation(source) }
        .set(at: try pipeline["size"].pad("sink"))
    }
    try pipeline.play()
  }

  private static func caps(_ width: Int, _ height: Int) -> String {
    "video/x-raw,format=BGRx,width=\(width),height=\(height)"
  }

  /// Downstream wants another size.
  func setSize(_ width: Int, _ height: Int) throws {
    try pipeline["size"].set("caps", Self.caps(width, height))
  }

  /// Waits for a picture that `match` accepts.
  @discardableResult
  func wait(for what: String, _ match: (Picture) -> Bool) throws -> Picture {
    let deadline = MonotonicClock.now + testTimeout
    let sink: UnsafeMutablePointer<GstAppSink> = output.pointer.cast()
    var last: Picture?
    while MonotonicClock.now < deadline {
      guard let sample = gst_app_sink_try_pull_sample(sink, second) else { continue }
      defer { gst_mini_object_unref(UnsafeMutableRawPointer(sample).assumingMemoryBound(to: GstMiniObject.self)) }
      guard let structure = gst_sample_get_caps(sample).flatMap({ gst_caps_get_structure($0, 0) }) else { continue }
      let view = StructureView(structure)
      let picture = Picture(
        width: Int(view.integer("width") ?? 0), height: Int(view.integer("height") ?? 0),
        bytes: PluginTestSupport.bytes(of: gst_sample_get_buffer(sample)))
      last = picture
      if match(picture) { return picture }
    }
    throw TestFailure(
      "no \(what); the last picture: \(last.map { "\($0.width)x\($0.height) \($0.corners)" } ?? "none"), "
        + "\(pipeline.drain())")
  }

  /// Waits until the program has drawn a window that fills the screen.
  @discardableResult
  func waitForCanvas(_ color: Color = .blue) throws -> Picture {
    try wait(for: "\(color) screen") { $0.corners.allSatisfy { $0 == color } }
  }

  /// How many come in that time.
  func countPictures(for time: Duration) -> Int {
    let deadline = MonotonicClock.now + time
    let sink: UnsafeMutablePointer<GstAppSink> = output.pointer.cast()
    var count = 0
    while MonotonicClock.now < deadline {
      guard let sample = gst_app_sink_try_pull_sample(sink, second / 10) else { continue }
      gst_mini_object_unref(UnsafeMutableRawPointer(sample).assumingMemoryBound(to: GstMiniObject.self))
      count += 1
    }
    return count
  }

  func send(_ event: UnsafeMutablePointer<GstEvent>?) {
    gst_element_send_event(output.pointer, event)
  }

  func tap(_ x: Double, _ y: Double) {
    send(gst_navigation_event_new_touch_down(0, x, y, 1, GstNavigationModifierType(rawValue: 0)))
    send(gst_navigation_event_new_touch_up(0, x, y, GstNavigationModifierType(rawValue: 0)))
  }

  func press(_ key: String) {
    send(gst_navigation_event_new_key_press(key, GstNavigationModifierType(rawValue: 0)))
    send(gst_navigation_event_new_key_release(key, GstNavigationModifierType(rawValue: 0)))
  }
}

private let second: GstClockTime = 1_000_000_000

/// Whether a process is there, and no zombie.
func isRunning(_ pid: Int32) -> Bool {
  guard let status = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return false }
  return status.split(separator: ")").last?.split(separator: " ").first != "Z"
}
