import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

@testable import PluginTestSupport

/// When the steps of a script are carried out, and for which app.
@Suite struct ScriptedServerTests {
  /// A message of the video service with one picture.
  private static let picture: [UInt8] = [0, 0, 0, 1, 0x65, 0x88] + [UInt8](repeating: 0x55, count: 40)

  @Test func cutComesBehindTheMessagesBefore() throws {
    let screen = try ScriptedServer("on stream-started: level limited\non stream-started: cut")
    // The app has its answer before the cut.
    let app = try RawApp.streaming(port: screen.port)
    try app.wait(for: .limited)
    #expect(app.isClosed())
  }

  @Test func stallComesBehindTheMessagesBefore() throws {
    let screen = try ScriptedServer("on stream-started: stall 15")
    let app = try RawApp.active(port: screen.port)
    try app.startVideo(.raw320x240, timeout: .seconds(10))
  }

  /// Also what has been read already waits for its end.
  @Test func stallStopsReading() throws {
    let screen = try ScriptedServer("on frame 5: stall 1\non frame 8: stall 0.2\non frame 12: level limited")
    let app = try RawApp.streaming(port: screen.port)
    // At once, so that the head unit reads all of it at once.
    app.send(
      (0..<12).flatMap { index in
        Fragmentation(
          service: .video, version: 5, sessionID: app.sessionID, messageID: 100 + index,
          payloadSize: Self.picture.count, maximumPayload: 1000
        ).frames(of: Self.picture)
      })
    // Nothing else arrives that would wake the head unit's thread.
    try app.wait(for: .limited)
    let reports = screen.reports
    let stalls = reports.indices.filter { if case .stepExecuted = reports[$0].event { true } else { false } }
    let pictures = reports.indices.filter { index in
      if case .session(_, .videoData) = reports[index].event { true } else { false }
    }
    #expect(stalls.count == 3 && pictures.count == 12)
    guard stalls.count == 3, pictures.count == 12 else { return }
    for (stall, count, time) in [(stalls[0], 5, Duration.seconds(1)), (stalls[1], 8, .milliseconds(200))] {
      #expect(pictures.count { $0 < stall } == count)
      // The step is reported a little later than it begins.
      #expect(reports[pictures[count]].time - reports[pictures[count - 1]].time >= time)
    }
  }

  @Test func answersWaitForTheNextApp() throws {
    let screen = try ScriptedServer(
      "at 0: none-after-refusal off\nat 0: answer start-video once nak height\nat 0: refuse width")
    try screen.waitForStep(3)
    let app = try RawApp.active(port: screen.port)
    for _ in 0..<2 { #expect(try !app.requestVideo(.raw320x240)) }
    try app.startVideo(.raw320x240)
    let refusals = screen.reports.compactMap { report -> [String]? in
      if case .session(_, .videoRefused(let rejection)) = report.event { rejection.rejectedParameters } else { nil }
    }
    #expect(refusals == [["height"], ["width"]])
    // It is not repeated for later apps.
    app.close()
    _ = try RawApp.streaming(port: screen.port)
  }

  /// An update at the connection waits for the app's subscription.
  @Test func updateAtTheConnection() throws {
    let screen = try ScriptedServer("on connected: update scale 2\non connected: framerate 7")
    let app = try RawApp.active(port: screen.port)
    _ = try app.request(.getSystemCapability, GetSystemCapability(type: .videoStreaming, subscribe: true).json)
    let update = try app.waitForVideoUpdate()
    #expect(update.scale == 2 && update.preferredFPS == 7)
    for line in 1...2 { #expect(try screen.waitForStep(line) == 1) }
  }

  @Test func stepsWithoutAnApp() throws {
    let screen = try ScriptedServer(
      "at 0: level none\nat 0: resize 400x240\nat 0: touch tap 1 1\nat 0: cut\nat 0: stall 0.01\nat 0: phone-call off")
    for line in 1...4 { #expect(try screen.waitForOmission(line) == nil) }
    for line in 5...6 { #expect(try screen.waitForStep(line) == nil) }
    #expect(screen.reports.count { if case .stepExecuted = $0.event { true } else { false } } == 2)
  }

  /// A step for one app does not apply to the next, unless the end of the first triggers it.
  @Test func stepsOfAnAppThatIsGone() throws {
    let screen = try ScriptedServer(
      """
      on registered 1 after 5: cut
      on registered 1 after 5: player off
      on disconnected 1 after 5: level limited
      """)
    let first = try RawApp.active(port: screen.port)
    first.close()
    try screen.waitForEnd(of: 1)
    let second = try RawApp.active(port: screen.port)
    try second.wait(for: .limited)
    #expect(try screen.waitForOmission(1) == 1)
    #expect(try screen.waitForStep(2) == 1)
    #expect(try screen.waitForStep(3) == nil)
  }
}
