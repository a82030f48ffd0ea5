import GStreamerKit
import Glibc
import X264Encoder

/// The choice of an encoder for raw pictures: by the property `encoder`, and the installed elements.
enum EncoderChoice: Equatable {
  /// libx264, which is linked in.
  case linked
  case element(EncoderElement)

  /// The element must be installed.
  ///
  /// - Throws: an error that says what to install, or to set instead.
  init(_ name: String) throws(ElementError) {
    switch name {
    case _ where Self.isAutomatic(name):
      guard let first = Self.automatic().first else { throw Self.nothingInstalled }
      self = first
    case "x264":
      guard isX264LinkedIn else {
        throw .library(
          GST_LIBRARY_ERROR_SETTINGS,
          "This build of sdlvideosink has no libx264: set encoder to x264enc or another element, or leave it at auto.")
      }
      self = .linked
    default:
      guard let factory = EncoderFactory(name) else {
        throw .library(
          GST_LIBRARY_ERROR_SETTINGS,
          "There is no element \(name): install the GStreamer plugin that has it, or set encoder to auto.")
      }
      guard factory.makesH264 else {
        throw .library(
          GST_LIBRARY_ERROR_SETTINGS,
          "\(name) does not encode H.264: set encoder to an element that does, such as openh264enc, or to auto.")
      }
      self = .element(.named(name))
    }
  }

  /// The choices for a name, the best first: `auto` has several, of which the next is used if one can't be.
  ///
  /// - Throws: as ``init(_:)``.
  static func all(_ name: String) throws(ElementError) -> [EncoderChoice] {
    guard isAutomatic(name) else { return [try EncoderChoice(name)] }
    let all = automatic()
    if all.isEmpty { throw nothingInstalled }
    return all
  }

  /// Whether a name leaves the choice to the sink, which then may have no encoder.
  static func isAutomatic(_ name: String) -> Bool { name == "auto" || name.isEmpty }

  static let nothingInstalled = ElementError.library(
    GST_LIBRARY_ERROR_SETTINGS,
    """
    There is no encoder for raw video: install x264enc (GStreamer's ugly plugins) or openh264enc (bad plugins), or put \
    H.264 into sdlvideosink.
    """)

  /// Why raw video with these caps can't be encoded; nil when it can.
  static func rejectionReason(of caps: UnsafeMutablePointer<GstCaps>, by choice: EncoderChoice?) -> ElementError? {
    guard let choice else { return nothingInstalled }
    guard case .element(let element) = choice, let accepted = element.rawCaps,
      !Caps(retaining: caps).isSubset(of: accepted)
    else { return nil }
    return .stream(
      GST_STREAM_ERROR_FORMAT,
      "The encoder \(element.name) does not accept \(Caps.text(caps)): put videoconvertscale before sdlvideosink.")
  }

  /// Caps without raw video that the encoder does not take; without any raw video, if there is no encoder.
  static func restrict(_ caps: consuming Caps, to choice: EncoderChoice?) -> Caps {
    if choice == .linked { return caps }
    var accepted = Caps(Structure("video/x-h264"))
    if case .element(let element)? = choice, let raw = element.rawCaps { accepted.merge(raw) }
    return caps.intersected(with: accepted)
  }
}

/// `auto`.
extension EncoderChoice {
  /// libx264 alone, or the elements that are installed.
  private static func automatic() -> [EncoderChoice] {
    if isX264LinkedIn { return [.linked] }
    let ranks = FeatureRanks(getenv("GST_PLUGIN_FEATURE_RANK").map { String(cString: $0) } ?? "")
    return ranks.ordered(EncoderElement.known).filter(\.isInstalled).map { .element($0) }
  }
}

/// The encoders that may encode the pictures of one stream. One that can't be used, because its hardware is missing or
/// busy, is skipped.
struct EncoderCandidates {
  private var rest: [EncoderChoice]
  /// Why the ones before were skipped.
  private var reasons: [String] = []

  init(_ choices: [EncoderChoice]) {
    rest = choices
  }

  var first: EncoderChoice? { rest.first }

  /// Continues with the next one that takes these pictures; if there is none, with the next one.
  ///
  /// - Parameters:
  ///   - error: why the present one can't be used.
  ///   - takes: whether a choice takes the pictures.
  /// - Returns: whether the next one takes them.
  /// - Throws: if none is left, the reasons of all; the next attempt begins with the last one again.
  mutating func passOver(_ error: EncoderError, takes: (EncoderChoice) -> Bool) throws(EncoderError) -> Bool {
    let others = rest.dropFirst()
    let taking = others.firstIndex(where: takes)
    guard let next = taking ?? others.indices.first else {
      throw reasons.isEmpty ? error : .element((reasons + ["\(error)"]).joined(separator: " "))
    }
    reasons.append("\(error)")
    rest.removeSubrange(..<next)
    return taking != nil
  }
}

/// GST_PLUGIN_FEATURE_RANK: which elements the user prefers, and which not. The elements' own ranks do not help: many
/// good encoders have none, so that players do not choose them.
struct FeatureRanks {
  private var ranks: [Substring: Int] = [:]

  /// - Parameter text: as GStreamer reads it, `NAME:RANK,…`; a rank is a number or a name.
  init(_ text: String) {
    for entry in text.split(separator: ",") {
      let parts = entry.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count == 2, let rank = Self.rank(parts[1]) else { continue }
      ranks[parts[0]] = rank
    }
  }

  private static func rank(_ text: Substring) -> Int? {
    switch text.uppercased() {
    case "NONE": 0
    case "MARGINAL": 64
    case "SECONDARY": 128
    case "PRIMARY": 256
    case "MAX": Int(Int32.max)
    default: Int(text)
    }
  }

  /// Elements with a rank from the user come first, the highest in front; elements with the rank NONE are left out.
  func ordered(_ elements: [EncoderElement]) -> [EncoderElement] {
    let wanted = elements.filter { element in ranks[element.name[...]].map { $0 > 0 } ?? true }
    let rank = { (element: EncoderElement) in ranks[element.name[...]] ?? 0 }
    // Stable, so that the others keep their order.
    return wanted.enumerated().sorted { (rank($1.element), $0.offset) < (rank($0.element), $1.offset) }.map(\.element)
  }
}

extension EncoderElement {
  fileprivate var isInstalled: Bool {
    EncoderFactory(name) != nil && uploader.map { EncoderFactory($0) != nil } != false
  }

  /// The raw video in system memory that it takes; nil if it is not installed.
  fileprivate var rawCaps: Caps? { EncoderFactory(uploader ?? name)?.rawCaps }
}

struct EncoderFactory: ~Copyable {
  private let factory: OpaquePointer

  /// Nil if there is none.
  init?(_ name: String) {
    guard let factory = gst_element_factory_find(name) else { return nil }
    self.factory = factory
  }

  deinit {
    gst_object_unref(UnsafeMutableRawPointer(factory))
  }

  /// Whether pictures may come out as H.264.
  var makesH264: Bool {
    let caps = Caps(Structure("video/x-h264"))
    return gst_element_factory_can_src_any_caps(factory, caps.pointer) != 0
  }

  /// The raw video in system memory that it takes.
  var rawCaps: Caps { Caps(Structure("video/x-raw")).intersected(with: inputCaps) }

  private var inputCaps: Caps {
    var caps = Caps()
    var next = gst_element_factory_get_static_pad_templates(factory).map { UnsafePointer($0) }
    while let node = next {
      next = node.pointee.next.map { UnsafePointer($0) }
      guard let template = node.pointee.data?.assumingMemoryBound(to: GstStaticPadTemplate.self),
        template.pointee.direction == GST_PAD_SINK,
        let some = Caps(owning: gst_static_caps_get(&template.pointee.static_caps))
      else { continue }
      caps.merge(some)
    }
    return caps
  }

  /// A new element, with the caller's reference; nil if it can't be made.
  func make() -> ObjectReference<GstElement>? {
    guard let element = gst_element_factory_create(factory, nil) else { return nil }
    gst_object_ref_sink(element)
    return ObjectReference(owning: element)
  }
}
