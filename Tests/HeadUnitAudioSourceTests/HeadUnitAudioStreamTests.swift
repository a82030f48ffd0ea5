import GStreamerKit
import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// What a head unit's events are for the stream of its sound, without a server.
@Suite struct HeadUnitAudioStreamTests {
  private let element: Element
  private let source: HeadUnitAudioSource
  private let reporter: HeadUnitReporter
  private let stream = HeadUnitAudioStream(HeadUnitElementSettings(), after: nil)

  init() throws {
    element = try Element("sdlheadunitaudiosrc")
    source = try #require(PushSourceType.object(of: element.pointer) as? HeadUnitAudioSource)
    reporter = HeadUnitReporter(source)
    stream.setPlaying(true)
  }

  private func receive(_ event: HeadUnitSession.Event, from id: UInt8) {
    stream.receive(event, from: id, ServedApps(), reporter)
  }

  private func begin(_ ids: UInt8...) {
    for id in ids { receive(.audioStarted(PCMFormat(), on: .primary), from: id) }
  }

  private func count(_ name: String, of stream: HeadUnitAudioStream? = nil) -> String? {
    let structure = Structure("stats")
    (stream ?? self.stream).fill(structure)
    return fields(of: structure.pointer)[name]
  }

  /// Then the one that spoke before is heard again.
  @Test func aSpeakerIsOver() {
    begin(1, 2, 3)
    #expect(stream.app == 3)
    receive(.audioStopped(reason: .endedByApp, AudioStreamStatistics()), from: 2)
    #expect(stream.app == 3)
    stream.appsChanged(ServedApps(), formerApp: nil)
    #expect(stream.app == 3)
    stream.appsChanged(ServedApps(), formerApp: 3)
    #expect(stream.app == 1)
    begin(2)
    #expect(stream.app == 2)
    receive(.audioStopped(reason: .endedByApp, AudioStreamStatistics()), from: 2)
    #expect(stream.app == 1)
  }

  /// Statistics are those of all runs; what was not pushed is gone, and what came in a pause was never there.
  @Test func countersGoOn() {
    begin(1)
    receive(.audioData([1, 2, 3, 4]), from: 1)
    stream.setPlaying(false)
    receive(.audioData([5, 6]), from: 1)
    #expect(count("samples-queued") == "2" && count("samples-dropped-paused") == "1")
    stream.end()
    let next = HeadUnitAudioStream(HeadUnitElementSettings(), after: stream)
    for stream in [stream, next] {
      #expect(count("samples-in", of: stream) == "3" && count("samples-queued", of: stream) == "0")
      #expect(count("samples-dropped-discarded", of: stream) == "2" && count("audio-bytes-in", of: stream) == "6")
    }
  }

  /// An element that comes later hears the apps that speak already, in the head unit's format.
  @Test(arguments: [true, false]) func joining(hasSound: Bool) throws {
    var settings = HeadUnitElementSettings()
    settings.headUnit.sound = .format(PCMFormat(samplingRate: .hertz8000, sampleSize: .bits8))
    let setup = settings.setup(for: .audio)
    let headUnits = HeadUnits()
    let run = HeadUnitRun(of: source, stream, endsWithApp: false, after: nil)
    defer { _ = run.end(in: headUnits) }
    guard case .first(let headUnit) = headUnits.join(run, { setup }) else { throw TestFailure("not the first") }
    var apps = ServedApps()
    for id: UInt8 in 1...2 {
      let name = "\(id)"
      apps.note(
        .session(
          id: id,
          .appRegistered(name: name, id: name, types: [.media], protocolVersion: ProtocolVersion(5, 4), .success)))
    }
    if hasSound { apps.note(.session(id: 1, .audioStarted(PCMFormat(), on: .secondary))) }
    stream.join(headUnit, setup, apps)
    #expect(stream.app == (hasSound ? 1 : nil))
    receive(.audioData([1, 2, 3]), from: 1)
    #expect(count("samples-queued") == (hasSound ? "3" : "0"))
  }
}
