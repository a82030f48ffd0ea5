import GStreamerKit
import SDLApp

/// Finds out by following the links whether upstream could change its size. CAPS queries don't tell: parsers and
/// demuxers answer with their present caps, even after an encoder that could change, and decoders with all caps that
/// they could ever send. Without locks.
enum UpstreamPath {
  /// Where a walk ends.
  private enum End {
    /// Nothing is linked yet.
    case unlinked
    /// The pad that takes an encoder's pictures.
    case encoder
    /// An element without an input.
    case source
    /// Several inputs, or an element that may convert raw pictures, which answers CAPS queries itself.
    case unknown
  }

  /// The pads that lead to a source pad within its element.
  private enum Inputs: ~Copyable {
    case none
    case one(ObjectReference<GstPad>)
    case several
  }

  /// More elements than a pipeline has in a row; ends the walk if links form a circle.
  private static let longestPath = 100

  /// Whether an element upstream is not linked yet.
  static func isUnlinked(_ pad: UnsafeMutablePointer<GstPad>) -> Bool {
    Walk(from: pad).end == .unlinked
  }

  /// Whether upstream might change to one of the displays' sizes when it is asked. Upstream of an encoded stream, only
  /// encoders can, and any source but a file: a network source may follow by other means.
  static func mayChange(_ pad: UnsafeMutablePointer<GstPad>, to displays: [VideoDisplay]) -> Bool {
    let walk = Walk(from: pad)
    switch walk.end {
    case .unlinked, .unknown: return true
    case .encoder:
      let wanted = pictures(of: displays.compactMap(\.streamSize))
      guard let answer = Caps.peerQuery(walk.input.pointer, filter: wanted) else { return true }
      return !answer.intersected(with: wanted).isEmpty
    // For raw pictures the CAPS query tells.
    case .source: return !walk.isEncoded || !isSeekable(pad)
    }
  }

  private struct Walk: ~Copyable {
    private(set) var end = End.unknown
    /// The sink pad at which it ended.
    private(set) var input: ObjectReference<GstPad>
    /// Part of the path carries an encoded stream.
    private(set) var isEncoded: Bool

    init(from pad: UnsafeMutablePointer<GstPad>) {
      input = ObjectReference(retaining: pad)
      isEncoded = !isRaw(pad)
      var count = 0
      while step(), count < longestPath { count += 1 }
    }

    /// Goes on to the next element; false at the end.
    private mutating func step() -> Bool {
      guard let output = ObjectReference(owning: gst_pad_get_peer(input.pointer)) else {
        end = .unlinked
        return false
      }
      switch inputs(of: output.pointer) {
      case .none:
        end = .source
        return false
      case .several: return false
      case .one(let next):
        let (takesRaw, sendsRaw) = (isRaw(next.pointer), isRaw(output.pointer))
        let isEncoder = takesRaw && !sendsRaw
        if !takesRaw { isEncoded = true }
        input = next
        if isEncoder { end = .encoder }
        return !isEncoder && (!takesRaw || isGeneric(output.pointer))
      }
    }
  }

  /// Whether it passes buffers unchanged: queues, capsfilters, the pads of bins.
  private static func isGeneric(_ output: UnsafeMutablePointer<GstPad>) -> Bool {
    if g_type_check_instance_is_a(output.cast(), gst_proxy_pad_get_type()) != 0 { return true }
    guard let element = ObjectReference(owning: gst_pad_get_parent_element(output)),
      let factory = gst_element_get_factory(element.pointer),
      let classes = gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_KLASS)
    else { return false }
    return String(cString: classes).split(separator: "/").first == "Generic"
  }

  /// The pads that lead to a source pad within its element.
  private static func inputs(of output: UnsafeMutablePointer<GstPad>) -> Inputs {
    guard let iterator = gst_pad_iterate_internal_links(output) else { return .none }
    defer { gst_iterator_free(iterator) }
    var found = Inputs.none
    var item = GValue()
    defer { if g_type_check_value(&item) != 0 { g_value_unset(&item) } }
    while true {
      switch gst_iterator_next(iterator, &item) {
      case GST_ITERATOR_OK:
        guard case .none = found, let pad = g_value_get_object(&item)?.assumingMemoryBound(to: GstPad.self) else {
          return .several
        }
        found = .one(ObjectReference(retaining: pad))
        g_value_reset(&item)
      case GST_ITERATOR_DONE: return found
      // The element gets or loses pads at this moment.
      default: return .several
      }
    }
  }

  private static func isRaw(_ pad: UnsafeMutablePointer<GstPad>) -> Bool {
    guard let caps = Caps.current(of: pad) else { return false }
    return caps.structure(at: 0)?.hasName("video/x-raw") ?? false
  }

  /// Raw video in any memory and format.
  private static func pictures(of sizes: [VideoSize]) -> Caps {
    let anyMemory = gst_caps_features_new_any()
    defer { gst_caps_features_free(anyMemory) }
    var caps = Caps()
    for size in sizes {
      let structure = Structure("video/x-raw")
      structure.set("width", Int32(clamping: size.width))
      structure.set("height", Int32(clamping: size.height))
      caps.append(structure, features: anyMemory)
    }
    return caps
  }

  /// Whether the source is a file, or like one.
  private static func isSeekable(_ pad: UnsafeMutablePointer<GstPad>) -> Bool {
    [GST_FORMAT_TIME, GST_FORMAT_BYTES].contains { format in
      let query = Query(taking: gst_query_new_seeking(format))
      guard query.askPeer(of: pad) else { return false }
      var isSeekable: gboolean = 0
      gst_query_parse_seeking(query.pointer, nil, &isSeekable, nil, nil)
      return isSeekable != 0
    }
  }
}
