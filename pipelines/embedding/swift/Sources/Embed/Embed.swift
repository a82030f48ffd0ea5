// For a standard output of whole lines; C's global variable is not marked as safe.
@preconcurrency import Foundation
import CGStreamer

/// Draws pictures for the car's screen, with a square where it was touched last, and prints the sink's messages.
///
/// For a third of the pictures the app is in the background, as if its user had switched to another app on the phone.
/// Usage: embed [PICTURES [URI]]; by default 150 pictures, 10 s, for the built-in head unit.
@main struct Embed {
  static func main() {
    setlinebuf(stdout)
    gst_init(nil, nil)
    let arguments = CommandLine.arguments.dropFirst()
    let pictures = arguments.first.flatMap { Int($0) } ?? 10 * App.picturesPerSecond
    let uri = arguments.dropFirst().first ?? "sdl+builtin:default"
    exit(stream(pictures, to: uri) ? EXIT_SUCCESS : EXIT_FAILURE)
  }

  /// With suspend-policy=drop nobody is asked for a pause while the head unit does not show the app.
  private static let pipeline = """
    appsrc name=source format=time \
    caps=video/x-raw,format=GRAY8,width=\(Picture.width),height=\(Picture.height),framerate=\(App.picturesPerSecond)/1 \
    ! videoconvertscale add-borders=false ! sdlvideosink name=sink app-name=Embedded suspend-policy=drop
    """

  /// Returns whether the end of the stream came, and no error.
  private static func stream(_ pictures: Int, to uri: String) -> Bool {
    var error: UnsafeMutablePointer<GError>?
    guard let pipeline = gst_parse_launch(pipeline, &error), error == nil,
      let source = gst_bin_get_by_name(cast(pipeline), "source"), let pad = gst_element_get_static_pad(source, "src"),
      let sink = gst_bin_get_by_name(cast(pipeline), "sink"), let bus = gst_element_get_bus(pipeline)
    else {
      say("\(error.map { String(cString: $0.pointee.message) } ?? "no pipeline"). Is GST_PLUGIN_PATH set?")
      return false
    }
    set("uri", to: uri, of: sink)

    // The callbacks use it until the pipeline has stopped.
    let app = App(pictures: pictures, sink: sink)
    let context = Unmanaged.passUnretained(app).toOpaque()
    var callbacks = GstAppSrcCallbacks()
    callbacks.need_data = { source, _, context in
      guard let source, let context else { return }
      Unmanaged<App>.fromOpaque(context).takeUnretainedValue().push(to: source)
    }
    gst_app_src_set_callbacks(cast(source), &callbacks, context, nil)
    gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM,
      { _, info, context in
        if let context, let event = gst_pad_probe_info_get_event(info) {
          Unmanaged<App>.fromOpaque(context).takeUnretainedValue().take(event)
        }
        return GST_PAD_PROBE_OK
      }, context, nil)

    gst_element_set_state(pipeline, GST_STATE_PLAYING)
    let isGood = printMessages(of: bus)
    // The sink's last messages come while the pipeline goes to NULL, which would flush the bus.
    set("auto-flush-bus", to: "false", of: pipeline)
    gst_element_set_state(pipeline, GST_STATE_NULL)
    while let message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT) {
      printMessage(message)
      gst_message_unref(message)
    }

    withExtendedLifetime(app) {}
    gst_object_unref(bus)
    gst_object_unref(pad)
    gst_object_unref(source)
    gst_object_unref(sink)
    gst_object_unref(pipeline)
    return isGood
  }

  private static func printMessages(of bus: UnsafeMutablePointer<GstBus>) -> Bool {
    while let message = gst_bus_timed_pop(bus, .max) {
      defer { gst_message_unref(message) }
      switch message.pointee.type {
      case GST_MESSAGE_EOS:
        return true
      case GST_MESSAGE_ERROR:
        var error: UnsafeMutablePointer<GError>?
        gst_message_parse_error(message, &error, nil)
        if let error { say(String(cString: error.pointee.message)) }
        g_clear_error(&error)
        return false
      case GST_MESSAGE_ELEMENT:
        printMessage(message)
      default:
        break
      }
    }
    return false
  }

  /// Prints a message of the sink; others come from GStreamer's own elements, or report events that no element handled.
  private static func printMessage(_ message: UnsafeMutablePointer<GstMessage>) {
    guard let structure = gst_message_get_structure(message), let name = gst_structure_get_name(structure),
      g_str_has_prefix(name, "sdl-") != 0
    else { return }
    var (width, height): (gint, gint) = (0, 0)
    if gst_structure_get_int(structure, "width", &width) != 0, gst_structure_get_int(structure, "height", &height) != 0
    {
      print(String(cString: name), width, height)
    } else if let reason = gst_structure_get_string(structure, "reason") {
      print(String(cString: name), String(cString: reason))
    } else {
      print(String(cString: name))
    }
  }

  private static func say(_ problem: String) {
    FileHandle.standardError.write(Data("\(problem)\n".utf8))
  }
}
