import GStreamerKit
import SDLHeadUnit
import SDLHeadUnitLink
import SDLMessages
import SDLWire
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// What an element counts of its head unit, without a server.
@Suite struct HeadUnitRunTests {
  private let elements: [Element]
  private let screen: HeadUnitSource
  private let sound: HeadUnitAudioSource

  init() throws {
    elements = [try Element("sdlheadunitsrc"), try Element("sdlheadunitaudiosrc")]
    screen = try #require(PushSourceType.object(of: elements[0].pointer) as? HeadUnitSource)
    sound = try #require(PushSourceType.object(of: elements[1].pointer) as? HeadUnitAudioSource)
  }

  private func run(_ service: ServiceType, after former: HeadUnitRun? = nil) -> HeadUnitRun {
    let settings = HeadUnitElementSettings()
    return service == .video
      ? HeadUnitRun(of: screen, HeadUnitVideoStream(settings, after: nil), endsWithApp: false, after: former)
      : HeadUnitRun(of: sound, HeadUnitAudioStream(settings, after: nil), endsWithApp: false, after: former)
  }

  private static let names = [
    "connections", "connections-refused", "registrations", "stream-starts", "stream-refusals", "violations",
  ]

  private static func counts(_ run: HeadUnitRun) -> [String?] {
    let structure = run.statistics
    let read = fields(of: structure.pointer)
    return names.map { read[$0] }
  }

  /// Streams are those of the element's service. Sessions of one connection are one, and the next run goes on.
  @Test(arguments: [(ServiceType.video, "1", "2"), (.audio, "2", "1")])
  func whatIsCounted(_ service: ServiceType, starts: String, refusals: String) {
    var apps = ServedApps()
    func report(_ event: HeadUnitServerEvent, to run: HeadUnitRun) {
      let former = apps
      apps.note(event)
      run.receive(event, HeadUnitReport(formerApps: former, apps: apps, isReporting: true))
    }
    let rejection = ServiceRejection(reason: "busy")
    let first = run(service)
    report(.connected(id: 1, peer: "a"), to: first)
    report(.connected(id: 2, peer: "a"), to: first)
    report(.refused(peer: "b"), to: first)
    let events: [HeadUnitSession.Event] = [
      .appRegistered(name: "Map", id: "1", types: [.navigation], protocolVersion: ProtocolVersion(5, 4), .success),
      .videoStarted(.rtp320x240, on: .primary), .audioStarted(PCMFormat(), on: .primary),
      .audioStarted(PCMFormat(), on: .primary), .videoRefused(rejection), .videoRefused(rejection),
      .audioRefused(rejection), .violation(.heartbeatUnanswered(after: .seconds(1))),
    ]
    for event in events { report(.session(id: 1, event), to: first) }
    report(.disconnected(id: 2, nil, VideoStreamStatistics()), to: first)
    let counts = ["1", "1", "1", starts, refusals, "1"]
    #expect(Self.counts(first) == counts)
    #expect(first.violations.map(\.appName) == ["Map"])
    let next = run(service, after: first)
    #expect(Self.counts(next) == counts && next.violations.count == 1)
    report(.connected(id: 3, peer: "c"), to: next)
    report(.refused(peer: "d"), to: next)
    #expect(Self.counts(next).prefix(2) == ["2", "2"])
  }
}
