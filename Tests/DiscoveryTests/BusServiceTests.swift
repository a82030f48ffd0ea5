import DBus
import TestSupport
import Testing

/// A service that comes and goes, on a bus of the test's own: the stand-in for BlueZ.
@Suite(.serialized, .timeLimit(.minutes(3))) struct BusServiceTests {
  private final class Signals {
    var all: [String] = []
  }

  private let signals = Signals()

  private func service(_ address: String) -> BusService {
    BusService("org.bluez", busAddress: address, timeout: testTimeout) { [signals] name, arguments in
      signals.all.append("\(name) \(arguments[0]?.text ?? "")")
    }
  }

  /// The bus has read all that was sent before.
  private func synchronize(_ service: BusService) {
    #expect(service.call("/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")?.type == "(a{oa{sa{sv}}})")
  }

  /// It counts as started once, and again after its subscriptions are gone.
  @Test func comesAndGoes() throws {
    let bluez = try BlueZStandIn(isOnBus: false)
    let service = service(bluez.bus.address)
    for _ in 0..<2 { #expect(service.look() == .absent) }
    #expect(service.call("/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")?.type == nil)
    try bluez.command("own")
    #expect(eventually { service.look() == .started })
    for _ in 0..<2 { #expect(service.look() == .running) }
    synchronize(service)
    service.forget()
    #expect(service.look() == .started && service.look() == .running)
    try bluez.command("leave")
    #expect(eventually { service.look() == .absent })
    try bluez.command("own")
    #expect(eventually { service.look() == .started })
    bluez.bus.stop()
    #expect(eventually { service.look() == .absent })
  }

  /// Those of the interface, and of the argument if one is given; not the bus's own.
  @Test func signalsThatAreSubscribed() throws {
    let bluez = try BlueZStandIn()
    let service = service(bluez.bus.address)
    try bluez.command("power", "off")
    #expect(service.look() == .started)
    service.subscribe(to: "org.freedesktop.DBus.Properties", argument: "org.bluez.Adapter1")
    synchronize(service)
    try bluez.command("pair", "AA:BB:CC:DD:EE:FF")
    try bluez.command("describe", "AA:BB:CC:DD:EE:FF", "{'Paired': <true>}")
    try bluez.command("power", "on")
    let expected = "PropertiesChanged org.bluez.Adapter1"
    service.takeSignals { signals.all.contains(expected) }
    #expect(signals.all == [expected])
    service.subscribe(to: "org.freedesktop.DBus.ObjectManager", signal: "InterfacesRemoved")
    synchronize(service)
    try bluez.command("plug")
    try bluez.command("unplug")
    service.takeSignals { signals.all.count > 1 }
    #expect(signals.all == [expected, "InterfacesRemoved /org/bluez/hci0"])
  }
}

@Suite struct BusAnswerTests {
  private static let name = "org.freedesktop.DBus"

  private func client() throws -> (client: BusClient, bus: PrivateBus) {
    let bus = try PrivateBus()
    return (try #require(BusClient(address: bus.address, timeout: testTimeout)), bus)
  }

  /// Values of other types than the caller expects, as any program may send them: there is none then.
  @Test func valuesOfOtherTypes() throws {
    let (client, bus) = try client()
    /// The types of the value at the end of a path into the answer, and its text.
    func ask(_ method: String, _ path: [Step] = []) -> (types: [String], text: String) {
      describe(client.call(Self.name, "/org/freedesktop/DBus", Self.name, method, "('\(Self.name)',)"), path[...])
    }
    let owner = "GetNameOwner"
    #expect(ask(owner) == (["count"], "(s)") && ask(owner, [.index(0)]) == (["text"], "s \(Self.name)"))
    for path: [Step] in [[.index(1)], [.index(-1)], [.index(0), .index(0)], [.key("ProcessID")]] {
      #expect(ask(owner, path) == ([], ""), "\(path)")
    }
    #expect(ask("NameHasOwner", [.index(0)]) == (["boolean"], "b true"))
    let credentials = "GetConnectionCredentials"
    #expect(ask(credentials, [.index(0)]).types == ["count"])
    #expect(ask(credentials, [.index(0), .key("ProcessID")]).types == ["unsigned"])
    #expect(ask(credentials, [.index(0), .key("None")]) == ([], ""))
    #expect(ask(credentials, [.index(0), .index(0)]).text == "{sv}")
    #expect(ask(credentials, [.index(0), .index(0), .index(1)]).types == ["content"])
    withExtendedLifetime(bus) {}
  }

  private enum Step {
    case index(Int)
    case key(String)
  }

  private func describe(_ value: consuming Variant?, _ path: ArraySlice<Step>) -> (types: [String], text: String) {
    guard let value else { return ([], "") }
    switch path.first {
    case .index(let index): return describe(value[index], path.dropFirst())
    case .key(let key): return describe(value[key], path.dropFirst())
    case nil: break
    }
    let hasContent = if value.content == nil { false } else { true }
    let found = [
      ("text", value.text != nil), ("boolean", value.boolean != nil), ("short", value.short != nil),
      ("unsigned", value.unsigned != nil), ("integer", value.integer != nil), ("handle", value.handle != nil),
      ("content", hasContent), ("count", value.count > 0),
    ]
    let text = value.text ?? value.boolean.map { "\($0)" }
    return (found.filter(\.1).map(\.0), value.type + (text.map { " \($0)" } ?? ""))
  }

  /// What another thread does when nobody wants the answer any more.
  @Test func cancelled() throws {
    let (client, bus) = try client()
    #expect(client.isOpen)
    client.cancel()
    #expect(!client.isOpen)
    let isAnswered = client.call(Self.name, "/", "\(Self.name).Peer", "Ping") != nil
    #expect(!isAnswered)
    withExtendedLifetime(bus) {}
  }

  @Test func busThatEnds() throws {
    let (client, bus) = try client()
    let isAnswered = client.call(Self.name, "/", "\(Self.name).Peer", "Ping") != nil
    #expect(isAnswered && client.isOpen)
    bus.stop()
    #expect(eventually { !client.isOpen })
    let isAnsweredLater = client.call(Self.name, "/", "\(Self.name).Peer", "Ping") != nil
    #expect(!isAnsweredLater)
  }

  /// Arguments that are no text of GVariant's are not sent.
  @Test func arguments() throws {
    let (client, bus) = try client()
    for text in ["(", "('a'", "nonsense"] {
      let isAnswered = client.call(Self.name, "/", "\(Self.name).Peer", "Ping", text) != nil
      #expect(!isAnswered)
    }
    withExtendedLifetime(bus) {}
  }
}
