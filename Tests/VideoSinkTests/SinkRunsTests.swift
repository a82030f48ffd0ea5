import GStreamerKit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// What lives as long as a state of a sink.
@Suite struct SinkRunsTests {
  private let element: Element
  private let sink: AudioSink
  private let runs = SinkRuns<AudioStream>()

  init() throws {
    element = try Element("sdlaudiosink")
    sink = AudioSink(element.pointer.cast())
  }

  /// Calls `body` with apps that were not started.
  private func withApps(_ body: (_ first: AppClient, _ second: AppClient) throws -> Void) throws {
    let apps = try (0..<2).map { _ in
      try AppClient(AppSettings(), AppMember(sink), ProtocolLog(sink.gstElement))
    }
    defer { for app in apps { app.end(isQuiet: true) } }
    try body(apps[0], apps[1])
  }

  @Test func aStreamIsThereUntilItIsTaken() throws {
    try withApps { app, _ in
      #expect(runs.stream == nil && runs.onPad == nil)
      let stream = AudioStream(sink: sink, app: app, settings: AudioSinkSettings())
      runs.set(stream)
      #expect(runs.stream === stream && runs.onPad === stream)
      #expect(runs.takeStream() === stream)
      #expect(runs.stream == nil && runs.onPad == nil && runs.takeStream() == nil)
    }
  }

  /// A late end of an app leaves the next one alone.
  @Test func onlyThePresentAppIsForgotten() throws {
    try withApps { first, second in
      weak var former: SharedApps?
      do {
        let apps = SharedApps()
        former = apps
        runs.set(first, of: apps, AppSettings())
      }
      var count = 0
      runs.forget(second, restsIn: nil) { count += 1 }
      #expect(count == 0 && runs.app === first && runs.apps === former && former != nil)
      for _ in 0..<2 { runs.forget(first, restsIn: nil) { count += 1 } }
      #expect(count == 1 && runs.app == nil && runs.apps == nil && former == nil)
    }
  }

  /// An app goes on between two films of a player, until that goes to NULL, or has another app.
  @Test func anAppRestsInItsPlayer() throws {
    let pipeline = try Pipeline("fakesrc ! fakesink name=sink")
    let player = try #require(PipelineReference(of: AudioSink(try pipeline.sink.pointer.cast())))
    pipeline.setState(GST_STATE_READY)
    try withApps { first, second in
      #expect(runs.takeEndedRest() == nil)
      let (apps, others) = (SharedApps(), SharedApps())
      runs.set(first, of: apps, AppSettings())
      runs.forget(first, restsIn: player) {}
      #expect(runs.app == nil && runs.apps === apps && runs.takeEndedRest() == nil)
      pipeline.setState(GST_STATE_NULL)
      #expect(runs.takeEndedRest() === apps && runs.apps == nil && runs.takeEndedRest() == nil)
      pipeline.setState(GST_STATE_READY)
      runs.set(first, of: apps, AppSettings())
      runs.forget(first, restsIn: player) {}
      runs.set(second, of: others, AppSettings())
      pipeline.setState(GST_STATE_NULL)
      #expect(runs.takeEndedRest() == nil && runs.app === second && runs.apps === others)
      // The former player is none of this app's.
      runs.forget(second, restsIn: nil) {}
      #expect(runs.apps == nil && runs.takeEndedRest() == nil)
    }
  }
  /// An app that has ended makes room for the next one.
  @Test func endedAppsAreForgotten() throws {
    let apps = SharedApps()
    weak var former: AppClient?
    for count in 0..<3 {
      guard case .made(let app, _) = try apps.join(AppSettings(), sink, time: .monotonic) else {
        throw TestFailure("the app that has ended is used again")
      }
      #expect(former == nil, "after \(count) apps")
      former = app
      app.end(isQuiet: true)
    }
  }
}
