import Bluetooth
import CGStreamerApp
import GStreamerKit
import Glibc
import SDLLink
import TestSupport
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The device provider, with a stand-in for BlueZ. The name of this suite gives it a process of its own, whose
/// environment it changes.
@Suite(.serialized, .timeLimit(.minutes(3))) struct DevicesWholeProcessTests {
  private static let car = "AA:BB:CC:DD:EE:FF"

  private let bluez: BlueZStandIn

  init() throws {
    bluez = try BlueZStandIn()
    setenv("DBUS_SYSTEM_BUS_ADDRESS", bluez.bus.address, 1)
    // Registers the elements and the provider.
    _ = try Element("sdlvideosink")
  }

  /// What an application gets of a device.
  private struct Listed: Equatable {
    var name: String
    var deviceClass: String
    var element: String
    var uri: String
  }

  private func list() throws -> [Listed] {
    let provider = try nonNull(gst_device_provider_factory_get_by_name("sdldeviceprovider"))
    defer { gst_object_unref(provider) }
    let list = gst_device_provider_get_devices(provider)
    defer { g_list_free_full(list) { gst_object_unref($0) } }
    return try sequence(first: list, next: { $0?.pointee.next }).prefix { $0 != nil }.map { entry in
      let device = try #require(entry?.pointee.data).assumingMemoryBound(to: GstDevice.self)
      let name = try nonNull(gst_device_get_display_name(device))
      defer { g_free(name) }
      let caps = Caps(owning: gst_device_get_caps(device))
      let element = try nonNull(gst_device_create_element(device, nil))
      gst_object_ref_sink(element)
      defer { gst_object_unref(element) }
      let sink = try nonNull(gst_element_get_static_pad(element, "sink"))
      defer { gst_object_unref(sink) }
      #expect(caps?.isEqual(to: Caps.template(of: sink)) == true)
      var uri = GValue()
      g_value_init(&uri, cgst_type_string())
      defer { g_value_unset(&uri) }
      g_object_get_property(UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), "uri", &uri)
      let factory = UnsafeMutablePointer<GstObject>(try nonNull(gst_element_get_factory(element)))
      let factoryName = try nonNull(gst_object_get_name(factory))
      defer { g_free(factoryName) }
      return Listed(
        name: String(cString: name), deviceClass: Device.deviceClass(of: device),
        element: String(cString: factoryName),
        uri: g_value_get_string(&uri).map { String(cString: $0) } ?? "")
    }
  }

  /// For the picture and for the sound.
  private func pair(_ name: String, _ uri: String) -> [Listed] {
    [
      Listed(name: name, deviceClass: "Video/Sink", element: "sdlvideosink", uri: uri),
      Listed(name: name, deviceClass: "Audio/Sink", element: "sdlaudiosink", uri: uri),
    ]
  }

  @Test func builtInHeadUnitAndPairedCar() throws {
    try bluez.command("pair", Self.car)
    try bluez.command("describe", Self.car, "{'Paired': <true>, 'Class': <uint32 0x420>, 'Alias': <'My-Car'>}")
    let expected =
      pair("Built-in head unit", "sdl+builtin:default") + pair("My-Car (Bluetooth)", "sdl+bluetooth:\(Self.car)")
    // On a busy machine BlueZ may not answer in time. Others may listen on this machine's port.
    let deadline = ContinuousClock.now + testTimeout
    var devices: [Listed] = []
    repeat {
      devices = try list().filter { $0.uri != "sdl://127.0.0.1:12345" }
    } while devices != expected && ContinuousClock.now < deadline
    #expect(devices == expected)
  }

  /// As long as a monitor has the provider started.
  @Test func carsComeAndGo() throws {
    let provider = try nonNull(gst_device_provider_factory_get_by_name("sdldeviceprovider"))
    defer { gst_object_unref(provider) }
    try #require(gst_device_provider_start(provider) != 0)
    let uris = { (try? self.list())?.map(\.uri).filter { $0 != "sdl://127.0.0.1:12345" }.sorted() }
    let builtIn = ["sdl+builtin:default", "sdl+builtin:default"]
    let car = "sdl+bluetooth:\(Self.car)"
    try bluez.command("pair", Self.car)
    try bluez.command("describe", Self.car, "{'Paired': <true>, 'Class': <uint32 0x420>, 'Alias': <'My-Car'>}")
    #expect(eventually { uris() == [car, car] + builtIn }, "\(uris() ?? [])")
    try bluez.command("describe", Self.car, "{'Paired': <false>, 'Class': <uint32 0x420>, 'Alias': <'My-Car'>}")
    #expect(eventually { uris() == builtIn }, "\(uris() ?? [])")
    gst_device_provider_stop(provider)
  }

  /// A device that stays is listed once, and one that comes back once more.
  @Test func monitorHearsOfChanges() throws {
    let provider = try nonNull(gst_device_provider_factory_get_by_name("sdldeviceprovider"))
    defer { gst_object_unref(provider) }
    let bus = try nonNull(gst_device_provider_get_bus(provider))
    defer { gst_object_unref(bus) }
    gst_bus_set_flushing(bus, 0)
    defer { gst_bus_set_flushing(bus, 1) }
    let headUnit = Device(name: "A", deviceClass: "Video/Sink", element: VideoSink.type, uri: "sdl://a")
    let looks = Monitor([[headUnit], [headUnit], [], [], [headUnit], [headUnit]])
    let watch = DeviceWatch(pause: .milliseconds(10)) {
      looks.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
    }
    // The provider registers the type with its first device.
    _ = try list()
    watch.start(DeviceList(of: provider, type: g_type_from_name("GstSdlDevice")))
    var heard: [GstMessageType] = []
    let hasHeard = eventually {
      while let message = gst_bus_pop(bus) {
        heard.append(message.pointee.type)
        gst_message_unref(message)
      }
      return heard.count >= 3 && looks.withLock { $0.count == 1 }
    }
    watch.stop()
    #expect(hasHeard)
    #expect(heard == [GST_MESSAGE_DEVICE_ADDED, GST_MESSAGE_DEVICE_REMOVED, GST_MESSAGE_DEVICE_ADDED])
  }

  /// Monitors look for devices again and again. The texts are long, so that one that is left shows.
  @Test func noMemoryIsLeft() throws {
    _ = try list()
    let type = g_type_from_name("GstSdlDevice")
    let text = String(repeating: "a", count: 1000)
    let devices = [Device(name: text, deviceClass: "Video/Sink", element: VideoSink.type, uri: "sdl://\(text)")]
    let element = try Element("sdlvideosink")
    let pad = try nonNull(gst_element_get_static_pad(element.pointer, "sink"))
    defer { gst_object_unref(pad) }
    let caps = try nonNull(gst_pad_get_pad_template_caps(pad))
    defer { gst_caps_unref(caps) }
    let provider = try nonNull(gst_device_provider_factory_get_by_name("sdldeviceprovider"))
    defer { gst_object_unref(provider) }
    let present = DeviceList(of: provider, type: type)
    func look(_ count: Int) {
      for number in 0..<count {
        if number.isMultiple(of: 5), let listed = present.add(devices[0]) { present.remove(listed) }
        g_list_free_full(
          Device.list(devices, of: type),
          { device in
            gst_object_ref_sink(device)
            gst_object_unref(device)
          })
      }
    }
    let references = caps.pointee.mini_object.refcount
    look(5000)
    let before = try residentBytes()
    look(20_000)
    let growth = try residentBytes() - before
    #expect(growth < 2 << 20, "\(growth)")
    #expect(caps.pointee.mini_object.refcount == references)
  }

  @Test(.enabled(if: Avahi.canStart)) func aHeadUnitThatAnnouncesItself() throws {
    let avahi = try Avahi(on: bluez.bus)
    let headUnit = try Pipeline("sdlheadunitsrc address=* port=0 announce=true ! fakesink")
    headUnit.setState(GST_STATE_PLAYING)
    let names = { (try? self.list())?.map(\.name).filter { $0.hasSuffix("(network)") } }
    #expect(eventually { names()?.count == 2 }, "\(names() ?? [])")
    headUnit.setState(GST_STATE_READY)
    #expect(eventually { names()?.isEmpty == true }, "\(names() ?? [])")
    avahi.end()
  }

  @Test(arguments: [("*", "avahi-daemon"), ("127.0.0.1", "set address=*")])
  func anAnnouncementThatCannotBeMade(_ address: String, _ advice: String) throws {
    let headUnit = try Pipeline("sdlheadunitsrc address=\(address) port=0 announce=true ! fakesink")
    headUnit.setState(GST_STATE_PLAYING)
    let warning = try headUnit.wait(for: "a warning") { $0.warning?.text }
    #expect(warning.contains("not announced") && warning.contains(advice), "\(warning)")
  }

  @Test func withoutBlueZ() throws {
    try bluez.command("leave")
    #expect(try list().contains(pair("Built-in head unit", "sdl+builtin:default")))
  }

  @Test func headUnitOnThisMachine() {
    let uris = HeadUnitDevices.devices(isListening: true, announced: [], cars: []).map(\.uri)
    #expect(
      uris == ["sdl+builtin:default", "sdl+builtin:default", "sdl://127.0.0.1:12345", "sdl://127.0.0.1:12345"])
    #expect(HeadUnitDevices.devices(isListening: false, announced: [], cars: []).count == 2)
  }

  @Test func nameThatControlsATerminal() throws {
    let car = PairedCar(address: try #require(BluetoothAddress(Self.car)), name: "\u{1B}[2Jcar\n")
    let names = HeadUnitDevices.devices(isListening: false, announced: [], cars: [car]).map(\.name)
    #expect(names.last == #"\u{1B}[2Jcar\u{A} (Bluetooth)"#)
  }
}
