import GStreamerKit
import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Elements that become one head unit.
@Suite struct HeadUnitsTests {
  private let elements: [Element]
  private let screen: HeadUnitSource
  private let sound: HeadUnitAudioSource
  private let headUnits = HeadUnits()

  init() throws {
    elements = [try Element("sdlheadunitsrc"), try Element("sdlheadunitaudiosrc")]
    screen = try #require(PushSourceType.object(of: elements[0].pointer) as? HeadUnitSource)
    sound = try #require(PushSourceType.object(of: elements[1].pointer) as? HeadUnitAudioSource)
    elements[0].set("make", "Ford")
    elements[0].set("max-bitrate", "77")
  }

  /// The settings of a head unit that the element for sound begins.
  private func setup(port: UInt16 = 12345) throws -> HeadUnitSetup {
    var settings = HeadUnitElementSettings()
    settings.headUnit.port = port
    let run = HeadUnitRun(of: sound, HeadUnitAudioStream(settings, after: nil), endsWithApp: false, after: nil)
    defer { _ = run.end(in: headUnits) }
    guard case .first(let headUnit) = headUnits.join(run, { settings.setup(for: .audio) }) else {
      throw TestFailure("not the first")
    }
    return headUnit.setup
  }

  /// Properties of an element count from READY on, before it starts itself.
  @Test func anElementInReadyBringsItsProperties() throws {
    #expect(try setup().settings.make == nil)
    headUnits.add(screen, for: .video)
    let setup = try setup()
    #expect(setup.settings.make == "Ford" && setup.video?.maxBitrate == 77)
    // That of another port is another head unit.
    let other = try self.setup(port: 2000)
    #expect(other.settings.make == nil && other.video == nil)
    headUnits.remove(screen)
    #expect(try self.setup().settings.make == nil && self.setup().video == nil)
  }

  /// It may come back for another pipeline, and is there once.
  @Test func anElementThatIsAddedAgain() throws {
    for _ in 0..<2 { headUnits.add(screen, for: .video) }
    headUnits.remove(screen)
    #expect(try setup().settings.make == nil)
  }

  /// Two elements of one service are two head units.
  @Test func anElementOfTheSameServiceBringsNothing() throws {
    headUnits.add(screen, for: .audio)
    #expect(try setup().settings.make == nil)
  }

  /// The last one to leave ends the head unit; until then others find it.
  @Test func theLastOneEndsIt() throws {
    let port = try RawPeer.unusedPort()
    var settings = HeadUnitElementSettings()
    settings.headUnit.port = port
    let (video, audio) = (settings.setup(for: .video), settings.setup(for: .audio))
    let first = HeadUnitRun(of: sound, HeadUnitAudioStream(settings, after: nil), endsWithApp: false, after: nil)
    guard case .first(let headUnit) = headUnits.join(first, { audio }) else { throw TestFailure("not the first") }
    let address = try headUnit.start(messageTrace: ProtocolLog(elements[1].pointer))
    #expect(address == "127.0.0.1:\(port)" && headUnit.port == port)
    let second = HeadUnitRun(of: screen, HeadUnitVideoStream(settings, after: nil), endsWithApp: false, after: nil)
    guard case .further(let other, []) = headUnits.join(second, { video }) else { throw TestFailure("not the second") }
    #expect(other === first && second.headUnit === headUnit && !headUnit.isOnlyMember(second))
    _ = first.end(in: headUnits)
    #expect(headUnit.isOnlyMember(second) && headUnit.server?.port == port && first.headUnit == nil)
    let hadApps = second.end(in: headUnits)
    #expect(!hadApps && second.headUnit == nil)
    // The port is free.
    guard case .first(let next) = headUnits.join(first, { audio }) else { throw TestFailure("not the first again") }
    #expect(next !== headUnit)
    _ = try next.start(messageTrace: ProtocolLog(elements[1].pointer))
    _ = first.end(in: headUnits)
  }
}
