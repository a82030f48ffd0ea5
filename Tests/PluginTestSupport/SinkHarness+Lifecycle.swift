import CGStreamerApp
import GStreamerKit
import H264
import SDLApp
import TestSupport

@testable import Plugin

/// The lifecycle of the stream: actions of the driver and of the app, and the messages that result.
extension SinkHarness {
  func setAppState(_ state: AppState) throws {
    try pipeline.sink.set("app-state", state.rawValue)
  }

  func show(_ level: HMILevel) throws {
    try headUnit.show(level)
  }

  func show(_ status: HMIStatus) throws {
    try headUnit.show(status)
  }

  /// Plays until only the driver's activation is missing for a stream. The caps reach the sink as in ``start()``.
  func prepare() throws {
    try pipeline.play()
    push([], flags: GST_BUFFER_FLAG_GAP)
    try pipeline.waitForElementMessage("sdl-connected")
    guard
      eventually({
        (try? pipeline.sink.structure("head-unit")?["video-capability"]) != nil && (try? statistics["frames-in"]) == 1
      })
    else { throw TestFailure("not ready to stream") }
  }

  /// Waits until the sink has handled everything that the application has set and the head unit has sent so far.
  func settle() throws {
    try headUnit.settle(pipeline)
  }

  var streamState: String { get throws { try pipeline.sink["stream-state"] ?? "" } }

  func wait(forStreamState state: String) throws {
    guard eventually({ (try? streamState) == state }) else {
      throw TestFailure("stream-state is \(try streamState), not \(state): \(pipeline.drain())")
    }
  }

  /// The `sdl-stream-*` messages with their reasons, in order: `started first-start`.
  var streamMessages: [String] {
    pipeline.drain().compactMap { message in
      guard case .element(let name) = message.kind, name.hasPrefix("sdl-stream-") else { return nil }
      return "\(name.dropFirst("sdl-stream-".count)) \(message.fields["reason"] ?? "")"
    }
  }

  /// The levels of BUFFERING messages, in order.
  var bufferings: [Int] { pipeline.drain().compactMap(\.buffering) }

  /// Pushes pictures of a live source until one arrives, which shows that the stream runs; its index at the head unit.
  func deliverFirst() throws -> Int {
    let count = headUnit.record.video.count
    let picture = Picture(320, 240, index).bytes
    guard
      eventually({
        push(picture)
        g_usleep(5000)
        return headUnit.record.video.count > count
      })
    else { throw TestFailure("nothing arrives: \(pipeline.drain())") }
    return count
  }

  /// Lets time pass, to see that nothing happens in it.
  func watch(for time: Duration) {
    g_usleep(UInt(time.nanoseconds / 1000))
  }
}

extension Standstills {
  /// How many frames a file may lose because the machine was too busy to pause while the first one waited.
  /// - Parameter pauseDelay: see ``Pipeline/pauseDelay``.
  func lostFrames(_ pauseDelay: Duration) -> Int {
    let time = max(total, pauseDelay)
    return time > longestBufferWait / 2 ? 1 + Int(time / longestBufferWait) : 0
  }
}

extension [UInt8] {
  /// Whether the access unit begins as the first of a stream must.
  var startsStream: Bool {
    // A delimiter stands in front of everything else.
    let types = ((try? nalTypes(self)) ?? []).drop { $0 == .accessUnitDelimiter }
    return types.starts(with: [.sequenceParameterSet, .pictureParameterSet]) && isKeyFrame(self)
  }
}

extension TestHeadUnit {
  /// Waits until a sink has handled everything that the application has set and the head unit has sent so far.
  ///
  /// The connection thread carries out the application's commands each time before it reads from the head unit: the
  /// second message is read after them.
  func settle(_ pipeline: Pipeline) throws {
    let app = try waitForApp()
    let mark = OnDriverDistraction(isDistractionLimited: true, lockScreenDismissalWarning: "settled")
    for _ in 0..<2 {
      server.control(.app(app)) { $0.notify(.onDriverDistraction, mark.json, now: $1) }
      try pipeline.wait(for: "mark") {
        $0.isElement("sdl-driver-distraction") && $0.fields["text"] == "settled" ? true : nil
      }
    }
  }
}
