import GStreamerKit

/// The settings with which an encoder element encodes for a head unit: without delay, one access unit for each picture,
/// at a bitrate that may change at any time.
///
/// Unknown properties and values of the installed version are left out, and numbers are clamped to their range: the
/// properties of an element differ between versions and processors.
struct EncoderElement: Equatable, Sendable {
  struct Bitrate: Equatable, Sendable {
    var property: String
    /// 1000 for kbit/s, 1 for bit/s.
    var unit: Int
    /// Whether a change takes effect while the encoder runs.
    var isChangeable = true
    /// Whether the element makes a key frame with each change.
    var isChangeCostly = false
  }

  struct Setting: Equatable, Sendable {
    var property: String
    /// The value as in gst-launch.
    var value: String
  }

  /// What asks for a key frame where the event does not.
  enum KeyFrameRequest: Equatable, Sendable {
    /// An action signal without arguments.
    case signal(String)
    case setting(Setting)
  }

  var name: String
  var isHardware = true
  /// Nil leaves the bitrate to the element, or to `controls`.
  var bitrate: Bitrate?
  /// The properties that take the number of pictures from one key frame to the next.
  var keyFrameIntervals: [String] = []
  /// No look-ahead, no pictures that others wait for (B), a constant bitrate.
  var settings: [Setting] = []
  /// The property for a driver's controls (V4L2), which has all settings.
  var controls: String?
  var keyFrameRequest: KeyFrameRequest?
  /// The element that brings pictures from system memory into the only memory that this one takes.
  var uploader: String?
  /// Whether it takes the lowest level of the caps for its own, instead of the one that the pictures need.
  var needsLevel = false

  init(
    _ name: String, isHardware: Bool = true, bitrate: Bitrate? = nil, keyFrameIntervals: [String] = [],
    controls: String? = nil, keyFrameRequest: KeyFrameRequest? = nil, uploader: String? = nil,
    needsLevel: Bool = false, _ settings: KeyValuePairs<String, String> = [:]
  ) {
    self.name = name
    self.isHardware = isHardware
    self.bitrate = bitrate
    self.keyFrameIntervals = keyFrameIntervals
    self.controls = controls
    self.keyFrameRequest = keyFrameRequest
    self.uploader = uploader
    self.needsLevel = needsLevel
    self.settings = settings.map { Setting(property: $0.key, value: $0.value) }
  }

  /// In the order of `auto`: hardware first, then the better quality.
  static let known: [EncoderElement] = [
    EncoderElement(
      "nvh264enc", bitrate: .kilobits, keyFrameIntervals: ["gop-size"],
      [
        "rc-mode": "cbr", "preset": "low-latency-hq", "zerolatency": "true", "bframes": "0", "b-frames": "0",
        "rc-lookahead": "0", "repeat-sequence-header": "true",
      ]),
    EncoderElement(
      "qsvh264enc", bitrate: .kilobits, keyFrameIntervals: ["gop-size"],
      ["rate-control": "cbr", "low-latency": "true", "b-frames": "0", "rc-lookahead": "0"]),
    EncoderElement(
      "vah264enc", bitrate: .kilobits, keyFrameIntervals: ["key-int-max"],
      ["rate-control": "cbr", "b-frames": "0", "ref-frames": "1"]),
    EncoderElement(
      "vah264lpenc", bitrate: .kilobits, keyFrameIntervals: ["key-int-max"],
      ["rate-control": "cbr", "b-frames": "0", "ref-frames": "1"]),
    EncoderElement(
      "vaapih264enc", bitrate: .kilobits, keyFrameIntervals: ["keyframe-period"],
      ["rate-control": "cbr", "max-bframes": "0", "refs": "1", "quality-level": "7"]),
    // A Jetson. A decoder may begin at IDR pictures alone.
    EncoderElement(
      "nvv4l2h264enc", bitrate: .bits, keyFrameIntervals: ["iframeinterval", "idrinterval"],
      keyFrameRequest: .signal("force-IDR"), uploader: "nvvidconv",
      [
        "control-rate": "constant_bitrate", "preset-level": "UltraFastPreset", "num-B-Frames": "0",
        "insert-sps-pps": "true",
      ]),
    // A Raspberry Pi up to 4, an i.MX. In GStreamer 1.22 it ignores the event.
    EncoderElement(
      "v4l2h264enc", controls: "extra-controls",
      keyFrameRequest: .setting(Setting(property: "extra-controls", value: "controls,force_key_frame=1")),
      needsLevel: true),
    // An older Raspberry Pi. With an interval it makes no B-frames.
    EncoderElement(
      "omxh264enc", bitrate: Bitrate(property: "target-bitrate", unit: 1), keyFrameIntervals: ["interval-intraframes"],
      ["control-rate": "constant", "inline-header": "true"]),
    EncoderElement(
      "x264enc", isHardware: false, bitrate: .kilobits, keyFrameIntervals: ["key-int-max"],
      [
        "tune": "zerolatency", "speed-preset": "superfast", "bframes": "0", "rc-lookahead": "0",
        "vbv-buf-capacity": "1500", "qp-min": "22", "aud": "false",
      ]),
    EncoderElement(
      "openh264enc", isHardware: false, bitrate: .costlyBits, keyFrameIntervals: ["gop-size"],
      [
        "rate-control": "bitrate", "complexity": "low", "enable-frame-skip": "false", "scene-change-detection": "false",
        "background-detection": "false", "qp-min": "22",
      ]),
  ]

  /// An element by its name; one that is not in the table gets only caps.
  static func named(_ name: String) -> EncoderElement {
    known.first { $0.name == name } ?? EncoderElement(name)
  }
}

extension EncoderElement.Bitrate {
  static let kilobits = EncoderElement.Bitrate(property: "bitrate", unit: 1000)
  static let bits = EncoderElement.Bitrate(property: "bitrate", unit: 1)
  static let costlyBits = EncoderElement.Bitrate(property: "bitrate", unit: 1, isChangeCostly: true)
}

/// The type and range of an element's property.
struct EncoderProperty: Equatable, Sendable {
  enum Values: Equatable, Sendable {
    case integers(ClosedRange<Int64>)
    /// The nicks of an enumeration or of flags.
    case names([String])
    case other
  }

  var values: Values
}

extension EncoderElement {
  /// The properties to set before the element starts.
  ///
  /// - Parameters:
  ///   - bitrate: in kbit/s.
  ///   - interval: most pictures from one key frame to the next.
  ///   - find: a property of the installed element; nil if it has none of that name.
  func settings(
    bitrate: Int, keyFrameInterval interval: Int, _ find: (String) -> EncoderProperty?
  ) -> [Setting] {
    var wanted = settings
    wanted += keyFrameIntervals.map { Setting(property: $0, value: "\(interval)") }
    if let change = bitrateSetting(bitrate, furtherControls(interval)) { wanted.append(change) }
    return wanted.compactMap { $0.adapted(to: find($0.property)) }
  }

  /// The properties to set for another bitrate while it runs; nil if it can't be changed.
  ///
  /// - Parameters: as for ``settings(bitrate:keyFrameInterval:_:)``.
  func change(bitrate: Int, _ find: (String) -> EncoderProperty?) -> Setting? {
    guard self.bitrate?.isChangeable ?? true, let change = bitrateSetting(bitrate) else { return nil }
    return change.adapted(to: find(change.property))
  }

  /// The names of the kernel's controls, as v4l2h264enc spells them; drivers leave out what they do not have. While
  /// they run, some refuse all but the bitrate.
  private func furtherControls(_ interval: Int) -> String {
    """
    ,video_bitrate_mode=1,video_gop_size=\(interval),h264_i_frame_period=\(interval),video_b_frames=0,\
    repeat_sequence_header=1
    """
  }

  private func bitrateSetting(_ bitrate: Int, _ furtherControls: String = "") -> Setting? {
    let bits = bitrate.multipliedReportingOverflow(by: 1000).partialValue
    if let controls { return Setting(property: controls, value: "controls,video_bitrate=\(bits)\(furtherControls)") }
    return self.bitrate.map { Setting(property: $0.property, value: "\(bits / $0.unit)") }
  }
}

extension EncoderElement.Setting {
  /// The nearest value that the property takes; nil for none.
  fileprivate func adapted(to property: EncoderProperty?) -> EncoderElement.Setting? {
    switch property?.values {
    case nil: return nil
    case .other: return self
    case .names(let names): return names.contains(value) ? self : nil
    case .integers(let range):
      guard let number = Int64(value) else { return nil }
      return EncoderElement.Setting(
        property: self.property, value: "\(min(max(number, range.lowerBound), range.upperBound))")
    }
  }
}

extension EncoderProperty {
  /// A property of an object; nil if it has none of this name that can be written.
  init?(_ object: UnsafeMutablePointer<GObject>, _ name: String) {
    let objectClass = object.pointee.g_type_instance.g_class.map { UnsafeMutableRawPointer($0) }
    guard
      let specification = g_object_class_find_property(objectClass?.assumingMemoryBound(to: GObjectClass.self), name),
      cgst_param_is_writable(specification) != 0
    else { return nil }
    let type = specification.pointee.value_type
    if type == cgst_type_uint() {
      let range: UnsafeMutablePointer<GParamSpecUInt> = specification.cast()
      values = .integers(Int64(range.pointee.minimum)...Int64(range.pointee.maximum))
    } else if type == cgst_type_int() {
      let range: UnsafeMutablePointer<GParamSpecInt> = specification.cast()
      values = .integers(Int64(range.pointee.minimum)...Int64(range.pointee.maximum))
    } else if g_type_is_a(type, cgst_type_enum()) != 0 {
      let names: UnsafeMutablePointer<GParamSpecEnum> = specification.cast()
      let count = Int(names.pointee.enum_class.pointee.n_values)
      values = .names((0..<count).map { String(cString: names.pointee.enum_class.pointee.values[$0].value_nick) })
    } else if g_type_is_a(type, cgst_type_flags()) != 0 {
      let names: UnsafeMutablePointer<GParamSpecFlags> = specification.cast()
      let count = Int(names.pointee.flags_class.pointee.n_values)
      values = .names((0..<count).map { String(cString: names.pointee.flags_class.pointee.values[$0].value_nick) })
    } else {
      values = .other
    }
  }
}
