import GStreamerKit
import SDLApp

/// The picture that comes to the scaler before the filter. A scaler takes the first size that it is offered, whatever
/// its input is, so the filter has to know the input to offer the nearest one first.
///
/// It is read from the caps of the pads upstream. That is no query, which an element that is negotiating could block,
/// and only a preference: without an answer the order is the usual one.
enum InputPicture {
  /// The most elements between the filter and the scaler's source.
  private static let maximumSteps = 16

  /// The nearest picture upstream of `pad`, a sink pad, that differs from the pad's own, which an earlier choice of the
  /// scaler may have led to; the pad's own if there is no other. Nil before upstream has sent caps.
  static func find(before pad: UnsafeMutablePointer<GstPad>) -> VideoPicture? {
    let present = picture(of: pad)
    var upstream = ObjectReference(owning: gst_pad_get_peer(pad))
    for _ in 0..<maximumSteps {
      guard let source = upstream.take() else { break }
      if let picture = picture(of: source.pointer), picture != present { return picture }
      guard let sink = sinkPad(before: source.pointer) else { break }
      upstream = ObjectReference(owning: gst_pad_get_peer(sink.pointer))
    }
    return present
  }

  private static func picture(of pad: UnsafeMutablePointer<GstPad>) -> VideoPicture? {
    guard let caps = Caps.current(of: pad) else { return nil }
    return CapsSizes.fixedPicture(caps.pointer)
  }

  /// The only pad from which the element, or the bin, feeds `pad`; nil if there is none, or if there are several.
  private static func sinkPad(before pad: UnsafeMutablePointer<GstPad>) -> ObjectReference<GstPad>? {
    guard let pads = gst_pad_iterate_internal_links(pad) else { return nil }
    defer { gst_iterator_free(pads) }
    var value = GValue()
    defer { if g_type_check_value(&value) != 0 { g_value_unset(&value) } }
    guard gst_iterator_next(pads, &value) == GST_ITERATOR_OK, let found = g_value_get_object(&value) else { return nil }
    let only = ObjectReference<GstPad>(retaining: UnsafeMutableRawPointer(found).assumingMemoryBound(to: GstPad.self))
    g_value_reset(&value)
    guard gst_iterator_next(pads, &value) == GST_ITERATOR_DONE else { return nil }
    return only
  }
}
