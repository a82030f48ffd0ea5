import GStreamerKit
import TestSupport
import Testing

@Suite struct PropertyTests {
  /// Name, default, value to set, value as read back.
  @Test(arguments: [
    ("label", "unnamed", "other", "other"),
    ("place", "NULL", "here", "here"),
    ("timeout", "250", "5000", "5000"),
    ("port", "80", "65535", "65535"),
    ("offset", "-1", "-10", "-10"),
    ("scale", "1.5", "2.25", "2.25"),
    ("on", "true", "false", "false"),
    ("rate", "0/1", "30000/1001", "30000/1001"),
    ("mode", "fast", "slow", "slow"),
    ("format", "NULL", "a,b", "a,b"),
    ("rows", "<  >", "<<1,2>,<3,4>>", "< (array)< (int)1, (int)2 >, (array)< (int)3, (int)4 > >"),
  ])
  func writable(_ name: String, _ initial: String, _ set: String, _ read: String) {
    let element = TestElement()
    #expect(element.initial(name) == initial)
    #expect(element.get(name) == initial)
    element.set(name, set)
    #expect(element.get(name) == read)
    #expect(element.settings.takeRefusals().isEmpty)
  }

  @Test func readOnly() {
    let element = TestElement()
    #expect(element.get("answer") == "42" && element.initial("answer") == "42")
    #expect(element.get("state") == "fast" && element.initial("state") == "slow")
    #expect(element.get("summary") == "NULL")
    element.set("label", "car")
    #expect(element.get("summary").contains("car"))
    #expect(element.get("entries").ranges(of: "entry").count == 3)
    element.set("answer", "1")
    #expect(element.get("answer") == "42")
  }

  @Test(arguments: [nil, ""], [("label", "unnamed"), ("note", "NULL"), ("place", "NULL"), ("format", "NULL")])
  func nullAndTheEmptyTextRestoreTheDefault(_ none: String?, _ row: (name: String, initial: String)) {
    let element = TestElement()
    #expect(element.initial(row.name) == row.initial && element.get(row.name) == row.initial)
    element.set(row.name, "here")
    #expect(element.get(row.name) == "here")
    element.set(row.name, none)
    #expect(element.get(row.name) == row.initial)
    #expect(element.settings.takeRefusals().isEmpty)
  }

  @Test func numbersFlagsAndTexts() throws {
    #expect(isGStreamerReady)
    for property in TestElement.properties.properties {
      let spec = try #require(property.makeParamSpec())
      g_param_spec_ref_sink(spec)
      defer { g_param_spec_unref(spec) }
      let flags = UInt32(bitPattern: spec.pointee.flags.rawValue)
      func has(_ flag: UInt32) -> Bool { flags & flag == flag }
      #expect(has(UInt32(CGST_PARAM_READABLE)) && has(UInt32(CGST_PARAM_STATIC_STRINGS)))
      #expect(has(UInt32(CGST_PARAM_WRITABLE)) == (property.access != .readOnly))
      #expect(has(UInt32(CGST_PARAM_MUTABLE_READY)) == (property.access == .mutableReady))
      #expect(has(UInt32(CGST_PARAM_MUTABLE_PLAYING)) == (property.access == .mutablePlaying))
      #expect(String(cString: g_param_spec_get_name(spec)) == property.name.description)
    }
    let spec = try #require(TestElement.properties[9]?.makeParamSpec())
    g_param_spec_ref_sink(spec)
    defer { g_param_spec_unref(spec) }
    let table = UnsafeMutableRawPointer(spec).assumingMemoryBound(to: GParamSpecEnum.self).pointee.enum_class
    let values = try #require(table?.pointee.values)
    #expect(values[0].value == 3 && String(cString: values[0].value_nick) == "fast")
    #expect(values[1].value == 7 && String(cString: values[1].value_name) == "Takes its time")
    #expect(TestElement.properties[0] == nil && TestElement.properties[99] == nil)
  }

  /// GObject keeps pointers to the texts of a specification, also to those of what is inside an array.
  @Test func textsOfElementsStay() throws {
    #expect(isGStreamerReady)
    let property = try #require(TestElement.properties.properties.last)
    let array = try #require(property.makeParamSpec())
    defer { g_param_spec_unref(array) }
    let noise = (0..<200).map { count in [CChar](repeating: 0x7E, count: 16 + count % 48) }
    let element = try #require(
      UnsafeMutableRawPointer(array).assumingMemoryBound(to: GstParamSpecArray.self).pointee.element_spec)
    let texts = [element.pointee.name, g_param_spec_get_nick(element), g_param_spec_get_blurb(element)]
    #expect(texts.map { $0.map { String(cString: $0) } } == ["structure", "Structure", "Element of the array"])
    #expect(noise.count == 200)
  }

  @Test func changesAreFollowed() {
    let element = TestElement()
    element.set("on", "false")
    element.set("port", "1")
    #expect(element.changes.withLock { $0 } == 1)
  }
}

/// Values that are refused, and where the reason is reported.
@Suite struct RefusalTests {
  private func warnings(_ bus: UnsafeMutablePointer<GstBus>) -> [String] {
    var texts: [String] = []
    while let message = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING) {
      var error: UnsafeMutablePointer<GError>?
      gst_message_parse_warning(message, &error, nil)
      if let error { texts.append(String(cString: error.pointee.message)) }
      g_clear_error(&error)
      gst_message_unref(message)
    }
    return texts
  }

  @Test(arguments: [
    ("format", "axb", "there is an x"), ("rows", "<<1,2,3>>", "a row is <x,y>"),
    ("scale", "0.5", "0.5 is below 1"),
  ])
  func keptUntilThereIsABus(_ name: String, _ value: String, _ reason: String) throws {
    let element = TestElement()
    let before = element.get(name)
    element.set(name, value)
    #expect(element.get(name) == before)
    let bus = try nonNull(gst_bus_new())
    defer { gst_object_unref(bus) }
    gst_element_set_bus(element.gstElement, bus)
    element.postRefusals()
    element.postRefusals()
    #expect(warnings(bus) == ["The property \(name) was not changed: \(reason)"])
  }

  @Test func reportedAtOnceWithABus() throws {
    let element = TestElement()
    let bus = try nonNull(gst_bus_new())
    defer { gst_object_unref(bus) }
    gst_element_set_bus(element.gstElement, bus)
    element.set("scale", "0.5")
    #expect(warnings(bus) == ["The property scale was not changed: 0.5 is below 1"])
    #expect(element.settings.takeRefusals().isEmpty)
  }

  /// An element that does not start with a refused value keeps it until then.
  @Test func keptForTheStart() throws {
    #expect(isGStreamerReady)
    let element = try nonNull(gst_bin_new(nil))
    gst_object_ref_sink(element)
    defer { gst_object_unref(element) }
    let bus = try nonNull(gst_bus_new())
    defer { gst_object_unref(bus) }
    gst_element_set_bus(element, bus)
    let picky = PickyElement(element)
    var value = GValue()
    g_value_init(&value, cgst_type_int())
    defer { g_value_unset(&value) }
    g_value_set_int(&value, 13)
    picky.setProperty(1, &value)
    #expect(warnings(bus) == [])
    #expect(picky.settings.takeRefusals().map(\.text) == ["The property number was not changed: 13 is too many"])
  }

  @Test func aGoodValueReplacesARefusedOne() {
    let element = TestElement()
    element.set("scale", "0.5")
    element.set("format", "x")
    element.set("scale", "2")
    let texts = element.settings.takeRefusals().map(\.text)
    #expect(texts == ["The property format was not changed: there is an x"])
  }

  @Test func runningElementsKeepWhatIsMutableInReady() throws {
    let element = TestElement()
    let bus = try nonNull(gst_bus_new())
    defer { gst_object_unref(bus) }
    gst_element_set_bus(element.gstElement, bus)
    #expect(gst_element_set_state(element.gstElement, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE)
    element.set("timeout", "9")
    element.set("port", "9")
    #expect(element.get("timeout") == "250" && element.get("port") == "9")
    #expect(warnings(bus) == ["The property timeout was not changed: it can only be set in NULL or READY"])
    gst_element_set_state(element.gstElement, GST_STATE_READY)
    element.set("timeout", "9")
    #expect(element.get("timeout") == "9")
  }
}

private final class PickyElement: GStreamerElement, PropertyOwner {
  struct Settings: PropertySettings {
    var number: Int32 = 0
  }

  static let log = LogCategory("gstreamerkitpicky", "Tests of GStreamerKit")
  static let keepsRefusalsUntilStart = true
  static let properties: PropertyList<PickyElement> = [
    .integer("number", \.number, 0...100, "Number", "At most 12", .mutableReady)
  ]
  nonisolated(unsafe) let gstElement: UnsafeMutablePointer<GstElement>
  let settings = ElementSettings(Settings())

  init(_ element: UnsafeMutablePointer<GstElement>) { gstElement = element }

  static func check(_ settings: Settings) throws(InvalidPropertyValue) {
    guard settings.number <= 12 else { throw InvalidPropertyValue("\(settings.number) is too many") }
  }
}
