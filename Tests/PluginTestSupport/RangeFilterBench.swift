import CGStreamerApp
import GStreamerKit

@testable import Plugin

/// A child of an element, by its name.
final class Child {
  let object: UnsafeMutablePointer<GObject>

  init(_ name: String, of element: Element) throws {
    guard let object = gst_child_proxy_get_child_by_name(OpaquePointer(element.pointer), name) else {
      throw TestFailure("no child \(name)")
    }
    self.object = object
  }

  deinit {
    g_object_unref(object)
  }

  /// Sets a property as gst-launch would.
  func set(_ property: String, _ value: String) {
    gst_util_set_object_arg(object, property, value)
  }

  subscript(_ property: String) -> String? {
    var value = GValue()
    defer { g_value_unset(&value) }
    g_object_get_property(object, property, &value)
    guard let text = gst_value_serialize(&value) else { return nil }
    defer { g_free(text) }
    return String(cString: text)
  }
}

/// Buffers from the test, through the filter, back to the test.
final class RangeFilterBench {
  let pipeline: Pipeline
  let source: FrameSource
  let filter: Element
  private let sink: Element
  private var index = 0

  /// - Parameters:
  ///   - caps: of the source.
  ///   - ranges: properties of the filter, as for gst-launch.
  init(caps: String, _ ranges: String = "") throws {
    pipeline = try Pipeline(
      "appsrc name=src format=time ! sdlrangefilter name=filter \(ranges) ! appsink name=sink sync=false buffer-list=true"
    )
    source = try FrameSource(pipeline, caps: caps)
    filter = try pipeline["filter"]
    sink = try pipeline.sink
  }

  func child(_ name: String) throws -> Child { try Child(name, of: filter) }

  @discardableResult
  func push(_ buffer: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn {
    defer { index += 1 }
    return source.push(buffer, at: index)
  }

  /// Pushes a buffer of some bytes.
  @discardableResult
  func push() -> GstFlowReturn {
    source.buffer(of: [1, 2, 3]).map(push) ?? GST_FLOW_ERROR
  }

  /// The next sample; its caps as text, and what `body` makes of it.
  func pull<R>(_ body: (OpaquePointer) throws -> R) throws -> R {
    guard let sample = gst_app_sink_try_pull_sample(sink.pointer.cast(), GstClockTime(testTimeout.nanoseconds)) else {
      throw TestFailure("no sample: \(pipeline.drain())")
    }
    defer { gst_sample_unref(sample) }
    return try body(sample)
  }

  /// The caps of the next sample.
  func pullCaps() throws -> String {
    try pull { sample in gst_sample_get_caps(sample).map { text(of: $0) } ?? "" }
  }
}

/// Sizes of all structures in caps, as text: fields are written as caps do.
func sizes(in caps: UnsafePointer<GstCaps>) -> [String] {
  (0..<gst_caps_get_size(caps)).map { index in
    let structure = gst_caps_get_structure(caps, index)
    func field(_ name: String) -> String {
      guard let structure, let value = gst_structure_get_value(structure, name), let text = gst_value_serialize(value)
      else { return "?" }
      defer { g_free(text) }
      return String(cString: text)
    }
    return "\(field("width")) x \(field("height"))"
  }
}
