import GStreamerKit
import Plugin
@_exported import TestSupport

/// GStreamer with the elements of this build, in this process.
enum GStreamer {
  /// Whether GStreamer and the elements are there; the first use initialises them.
  static let isReady: Bool = {
    gst_init(nil, nil)
    // As G_DEBUG=fatal-warnings: a warning of GLib or GStreamer ends the process, and with it the tests. These are
    // G_LOG_LEVEL_ERROR, _CRITICAL and _WARNING, whose names in Swift depend on GLib's version.
    g_log_set_always_fatal(GLogLevelFlags(rawValue: 1 << 2 | 1 << 3 | 1 << 4))
    let elements: [(name: String, type: GType)] = [
      ("sdlvideosink", videoSinkType()), ("sdlaudiosink", audioSinkType()), ("sdlrangefilter", rangeFilterType()),
      ("sdlheadunitsrc", headUnitSourceType()), ("sdlheadunitaudiosrc", headUnitAudioSourceType()),
      ("sdlcarwindowsrc", carWindowSourceType()),
    ]
    // Registered without a plugin, they replace those that are installed.
    return elements.allSatisfy { gst_element_register(nil, $0.name, GST_RANK_NONE.rawValue, $0.type) != 0 }
      && gst_device_provider_register(nil, "sdldeviceprovider", GST_RANK_MARGINAL.rawValue, deviceProviderType()) != 0
  }()
}

/// A failure of a test's helpers.
struct TestFailure: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) {
    self.description = description
  }
}

/// A reference to an element.
final class Element {
  let pointer: UnsafeMutablePointer<GstElement>

  /// Takes over a full reference.
  init(owning pointer: UnsafeMutablePointer<GstElement>) {
    self.pointer = pointer
  }

  /// A new element, whose floating reference is taken.
  init(_ factory: String) throws {
    guard GStreamer.isReady, let element = gst_element_factory_make(factory, nil) else {
      throw TestFailure("no element \(factory)")
    }
    gst_object_ref_sink(element)
    pointer = element
  }

  deinit {
    gst_object_unref(pointer)
  }

  var object: UnsafeMutablePointer<GObject> { pointer.cast() }

  /// Sets a property as gst-launch would.
  func set(_ property: String, _ value: String) {
    gst_util_set_object_arg(object, property, value)
  }

  /// Another element's property has the value of this one from now on.
  func bind(_ property: String, to element: Element, _ target: String) {
    // G_BINDING_SYNC_CREATE, whose name in Swift depends on GLib's version.
    g_object_bind_property(pointer, property, element.pointer, target, GBindingFlags(rawValue: 1 << 1))
  }

  /// A property's value, written as gst-inspect would; nil for NULL.
  subscript(_ property: String) -> String? {
    withProperty(property) { value in
      if g_type_check_value_holds(value, cgst_type_string()) != 0 {
        return g_value_get_string(value).map { String(cString: $0) }
      }
      guard let text = gst_value_serialize(value) else { return nil }
      defer { g_free(text) }
      return String(cString: text)
    }
  }

  /// A structure's fields, each as text; nil when the property is unset.
  func structure(_ property: String) -> [String: String]? {
    withProperty(property) { value in
      g_value_get_boxed(value).map { fields(of: $0.assumingMemoryBound(to: GstStructure.self)) }
    }
  }

  /// `sdl-stats`.
  var statistics: Statistics { Statistics(fields: structure("sdl-stats") ?? [:]) }

  func pad(_ name: String) throws -> UnsafeMutablePointer<GstPad> {
    guard let pad = gst_element_get_static_pad(pointer, name) else { throw TestFailure("no pad \(name)") }
    // The element keeps its static pads for as long as it lives.
    gst_object_unref(pad)
    return pad
  }

  /// As a source does that says nothing of what else it could send.
  func leaveCapsQueriesUnanswered() throws {
    gst_pad_add_probe(
      try pad("src"), GST_PAD_PROBE_TYPE_QUERY_UPSTREAM,
      { _, info, _ in
        guard let info, let query = gst_pad_probe_info_get_query(info), query.pointee.type == GST_QUERY_CAPS else {
          return GST_PAD_PROBE_OK
        }
        return GST_PAD_PROBE_DROP
      }, nil, nil)
  }

  /// What the sink pad answers to a CAPS query, as text.
  func sinkCaps() throws -> String {
    guard let caps = gst_pad_query_caps(try pad("sink"), nil) else { throw TestFailure("no caps") }
    defer { gst_caps_unref(caps) }
    return text(of: caps)
  }

  /// Calls an action signal, and returns its number (guint).
  func emit(_ signal: String, _ arguments: any SignalArgument...) -> UInt32 {
    var values = [GValue](repeating: GValue(), count: arguments.count + 1)
    g_value_init(&values[0], pointer.pointee.object.object.g_type_instance.g_class.pointee.g_type)
    g_value_set_object(&values[0], pointer)
    for (index, argument) in arguments.enumerated() { argument.set(&values[index + 1]) }
    var result = GValue()
    g_value_init(&result, cgst_type_uint())
    let id = g_signal_lookup(signal, pointer.pointee.object.object.g_type_instance.g_class.pointee.g_type)
    g_signal_emitv(&values, id, 0, &result)
    defer { for index in values.indices { g_value_unset(&values[index]) } }
    return g_value_get_uint(&result)
  }

  private func withProperty<R>(_ property: String, _ body: (UnsafeMutablePointer<GValue>) -> R) -> R {
    var value = GValue()
    defer { g_value_unset(&value) }
    g_object_get_property(object, property, &value)
    return body(&value)
  }
}

/// What an action signal takes.
protocol SignalArgument {
  func set(_ value: inout GValue)
}

extension String: SignalArgument {
  func set(_ value: inout GValue) {
    g_value_init(&value, cgst_type_string())
    g_value_set_string(&value, self)
  }
}

extension Bool: SignalArgument {
  func set(_ value: inout GValue) {
    g_value_init(&value, cgst_type_boolean())
    g_value_set_boolean(&value, self ? 1 : 0)
  }
}

extension [UInt8]: SignalArgument {
  func set(_ value: inout GValue) {
    g_value_init(&value, g_bytes_get_type())
    g_value_take_boxed(&value, UnsafeMutableRawPointer(g_bytes_new(self, gsize(count))))
  }
}

/// Counters of an element.
struct Statistics {
  var fields: [String: String]

  subscript(_ field: String) -> Int { fields[field].flatMap { Int($0) } ?? -1 }

  var dropped: Int {
    fields.keys.filter { $0.hasPrefix("frames-dropped-") }.map { self[$0] }.reduce(0, +)
  }

  /// Of an app: the frames of its upstream that the head unit has. A file's first one counts as unchanged if it was sent
  /// while the pipeline was in PAUSED, where a busy machine may leave it for long enough.
  var shown: Int { self["frames-sent"] + self["frames-unchanged"] }

  /// Of a head unit: frames-in = frames-out + every frames-dropped-* + frames-queued.
  var areFramesBalanced: Bool {
    self["frames-in"] >= 0 && self["frames-in"] == self["frames-out"] + dropped + self["frames-queued"]
  }

  /// Of an app: frames-in = frames-sent + frames-unchanged + every frames-dropped-* + frames-queued.
  var areFramesConserved: Bool {
    self["frames-in"] >= 0
      && self["frames-in"] == self["frames-sent"] + self["frames-unchanged"] + dropped + self["frames-queued"]
  }
}

func fields(of structure: UnsafePointer<GstStructure>) -> [String: String] {
  var fields: [String: String] = [:]
  for index in 0..<gst_structure_n_fields(structure) {
    guard let name = gst_structure_nth_field_name(structure, guint(index)),
      let value = gst_structure_get_value(structure, name)
    else { continue }
    if g_type_check_value_holds(value, cgst_type_string()) != 0 {
      fields[String(cString: name)] = g_value_get_string(value).map { String(cString: $0) }
    } else if let text = gst_value_serialize(value) {
      fields[String(cString: name)] = String(cString: text)
      g_free(text)
    }
  }
  return fields
}

func text(of caps: UnsafePointer<GstCaps>) -> String {
  guard let text = gst_caps_to_string(caps) else { return "" }
  defer { g_free(text) }
  return String(cString: text)
}

extension GstState {
  /// The four states in every order.
  static let orders: [[GstState]] = {
    func permutations(_ rest: [GstState]) -> [[GstState]] {
      rest.isEmpty ? [[]] : rest.flatMap { first in permutations(rest.filter { $0 != first }).map { [first] + $0 } }
    }
    return permutations([GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING])
  }()
}
