import GStreamerKit
import Synchronization

/// GStreamer, initialised once.
let isGStreamerReady: Bool = {
  gst_init(nil, nil)
  return true
}()

enum TestMode: CaseIterable {
  case slow
  case fast
}

extension TestMode: ObjectEnumeration {
  static let objectType = EnumerationType<TestMode>("GStreamerKitTestMode")
  var row: EnumerationRow {
    switch self {
    case .slow: .init(7, "slow", "Takes its time")
    case .fast: .init(3, "fast", "Hurries")
    }
  }
}

struct TestRate: FractionConvertible, Equatable {
  var terms: Structure.FractionTerms
  init?(terms: Structure.FractionTerms) {
    guard terms.numerator > 0 else { return nil }
    self.terms = terms
  }
  static func == (one: TestRate, other: TestRate) -> Bool { one.terms == other.terms }
}

struct TestSettings: PropertySettings {
  var name = "unnamed"
  var note = ""
  var place: String?
  var timeout: UInt32 = 250
  var port: UInt16 = 80
  var offset: Int32 = -1
  var scale = 1.5
  var isOn = true
  var rate: TestRate?
  var mode = TestMode.fast
  var format: [String]?
  var rows: [[Int32]] = []
}

/// A bin with a table of properties of every kind, without a class of its own: GObject's calls are made by the tests.
final class TestElement: GStreamerElement, PropertyOwner {
  static let log = LogCategory("gstreamerkittest", "Tests of GStreamerKit")
  nonisolated(unsafe) let gstElement: UnsafeMutablePointer<GstElement>
  let settings = ElementSettings(TestSettings())
  let changes = Mutex(0)

  static let properties: PropertyList<TestElement> = [
    .string("label", \.name, "Label", "A text", .mutableReady),
    .string("place", \.place, "Place", "A text or none", .mutablePlaying),
    .unsigned("timeout", \.timeout, 1...3_600_000, "Time-out", "In milliseconds", .mutableReady),
    .unsigned("port", \.port, 0...65535, "Port", "Of 16 bits", .mutablePlaying),
    .integer("offset", \.offset, -10...10, "Offset", "Of either sign", .mutablePlaying),
    .double("scale", \.scale, 0 ... .infinity, "Scale", "A number", .mutablePlaying),
    .boolean("on", \.isOn, "On", "Yes or no", .mutablePlaying) { $0.changes.withLock { $0 += 1 } },
    .fraction("rate", \.rate, upTo: 240, "Rate", "A fraction", .mutablePlaying),
    .enumeration("mode", \.mode, "Mode", "An enumeration", .mutablePlaying),
    .text(
      "format", \.format, "Format", "Words with commas", .mutablePlaying,
      parse: { text throws(InvalidPropertyValue) in
        guard let text else { return nil }
        guard !text.contains("x") else { throw InvalidPropertyValue("there is an x") }
        return text.split(separator: ",").map(String.init)
      }, text: { $0?.joined(separator: ",") }),
    .integerRows(
      "rows", \.rows, "Rows", "Rows of two", .mutablePlaying,
      parse: { rows throws(InvalidPropertyValue) in
        guard let rows, rows.allSatisfy({ $0.count == 2 }) else { throw InvalidPropertyValue("a row is <x,y>") }
        return rows
      }, rows: { $0 }),
    .string("note", \.note, "Note", "An empty text", .mutablePlaying),
    .unsigned("answer", 0...100, default: 42, "Answer", "Read-only") { _ in 42 },
    .enumeration("state", default: TestMode.slow, "State", "Read-only") { _ in .fast },
    .structure("summary", "Summary", "Read-only") { element in
      let name = element.settings.current.name
      guard name != "unnamed" else { return nil }
      let structure = Structure("summary")
      structure.set("name", name)
      return structure
    },
    .structures("entries", "Entries", "Read-only") { _ in
      StructureArray(1...3) { number in
        let entry = Structure("entry")
        entry.set("number", Int32(number))
        return entry
      }
    },
  ]

  static func check(_ settings: TestSettings) throws(InvalidPropertyValue) {
    guard settings.scale == 0 || settings.scale >= 1 else { throw InvalidPropertyValue("\(settings.scale) is below 1") }
  }

  init() {
    _ = isGStreamerReady
    gstElement = gst_bin_new(nil)
    gst_object_ref_sink(gstElement)
  }

  deinit {
    gst_element_set_state(gstElement, GST_STATE_NULL)
    gst_object_unref(gstElement)
  }

  /// The id of a property.
  private func id(_ name: String) -> UInt32 {
    UInt32((Self.properties.properties.firstIndex { $0.name.description == name } ?? -2) + 1)
  }

  /// Sets a property from its text, as gst-launch would.
  func set(_ name: String, _ text: String?) {
    guard let spec = Self.properties[id(name)]?.makeParamSpec() else { return }
    g_param_spec_ref_sink(spec)
    defer { g_param_spec_unref(spec) }
    var value = GValue()
    g_value_init(&value, spec.pointee.value_type)
    defer { g_value_unset(&value) }
    if let text { gst_value_deserialize_with_pspec(&value, text, spec) }
    setProperty(id(name), &value)
  }

  /// A property's value as gst-launch would write it; "NULL" for none.
  func get(_ name: String) -> String {
    guard let spec = Self.properties[id(name)]?.makeParamSpec() else { return "" }
    g_param_spec_ref_sink(spec)
    defer { g_param_spec_unref(spec) }
    var value = GValue()
    g_value_init(&value, spec.pointee.value_type)
    defer { g_value_unset(&value) }
    getProperty(id(name), &value)
    if spec.pointee.value_type == cgst_type_string() { return value.text ?? "NULL" }
    if spec.pointee.value_type == cgst_type_structure(), g_value_get_boxed(&value) == nil { return "NULL" }
    return String(freeing: gst_value_serialize(&value)) ?? "NULL"
  }

  /// The default in a property's specification, as gst-inspect would write it.
  func initial(_ name: String) -> String {
    guard let spec = Self.properties[id(name)]?.makeParamSpec() else { return "" }
    g_param_spec_ref_sink(spec)
    defer { g_param_spec_unref(spec) }
    var value = GValue()
    g_value_init(&value, spec.pointee.value_type)
    defer { g_value_unset(&value) }
    g_param_value_set_default(spec, &value)
    if spec.pointee.value_type == cgst_type_string() { return value.text ?? "NULL" }
    return String(freeing: gst_value_serialize(&value)) ?? "NULL"
  }
}

extension GValue {
  fileprivate var text: String? {
    withUnsafePointer(to: self) { $0.string }
  }
}
