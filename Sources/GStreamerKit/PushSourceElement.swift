/// A live GstPushSrc whose virtual functions are methods, and whose times are running times.
///
/// GStreamer calls them on the threads that its documentation names, and never after the element is finalized.
package protocol PushSourceElement: GStreamerElement, PropertyOwner {
  var baseSource: UnsafeMutablePointer<GstBaseSrc> { get }

  func changeState(_ transition: GstStateChange) -> GstStateChangeReturn
  /// The element is finalized.
  func willBeFreed()
  /// False after an error.
  func start() -> Bool
  func stop()
  /// Chooses caps before the first buffer, and when downstream asks for others; false is an error. Without an
  /// implementation, the caps come with the buffers.
  func negotiate() -> Bool
  /// `unlock` and `unlock_stop`.
  func setFlushing(_ isFlushing: Bool)
  /// Handles an event from downstream; false if it was not handled.
  func handle(_ event: UnsafeMutablePointer<GstEvent>) -> Bool
  func answer(_ query: UnsafeMutablePointer<GstQuery>) -> Bool
  func create(_ buffer: inout UnsafeMutablePointer<GstBuffer>?) -> GstFlowReturn
}

nonisolated(unsafe) private let pushSourceClass: UnsafeMutablePointer<GstPushSrcClass> =
  retainedClass(gst_push_src_get_type())

extension PushSourceElement {
  package var gstElement: UnsafeMutablePointer<GstElement> { baseSource.cast() }
  package var pad: UnsafeMutablePointer<GstPad> { cgst_base_src_pad(baseSource) }

  package func negotiate() -> Bool { true }
  package func handle(_ event: UnsafeMutablePointer<GstEvent>) -> Bool { handleByParent(event) }

  /// The parent's `change_state`.
  package func changeParentState(_ transition: GstStateChange) -> GstStateChangeReturn {
    pushSourceClass.pointee.parent_class.parent_class.change_state(gstElement, transition)
  }

  /// The parent's `event`.
  package func handleByParent(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    pushSourceClass.pointee.parent_class.event(baseSource, event) != 0
  }

  /// The parent's `query`.
  package func answerByParent(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    pushSourceClass.pointee.parent_class.query(baseSource, query) != 0
  }
}

package typealias PushSourceType = ObjectType<GstPushSrc, GstPushSrcClass, any PushSourceElement>

extension PushSourceType {
  /// Registers a type that is derived from GstPushSrc.
  package static func register(
    _ name: StaticString, initClass: GClassInitFunc, initInstance: GInstanceInitFunc
  ) -> GType {
    register(name, derivedFrom: gst_push_src_get_type(), initClass: initClass, initInstance: initInstance)
  }

  /// Gives a new instance its object.
  package static func begin(_ instance: UnsafeMutableRawPointer?, with source: any PushSourceElement) {
    attach(source, to: instance)
    gst_base_src_set_live(source.baseSource, 1)
    gst_base_src_set_format(source.baseSource, GST_FORMAT_TIME)
  }

  package static func install<Source: PushSourceElement>(
    on sourceClass: UnsafeMutableRawPointer?, _ properties: PropertyList<Source>, _ details: ElementDetails
  ) {
    install(on: sourceClass, properties, details, installFunctions)
  }

  // GStreamer passes no NULL to them.
  private static func installFunctions(_ pushClass: UnsafeMutablePointer<GstPushSrcClass>) {
    let objectClass: UnsafeMutablePointer<GObjectClass> = pushClass.cast()
    objectClass.pointee.set_property = { source, id, value, _ in
      PushSourceType.object(of: source).setProperty(id, value.unsafelyUnwrapped)
    }
    objectClass.pointee.get_property = { source, id, value, _ in
      PushSourceType.object(of: source).getProperty(id, value.unsafelyUnwrapped)
    }
    objectClass.pointee.finalize = { source in
      PushSourceType.detach(from: source).willBeFreed()
      pushSourceClass.pointee.parent_class.parent_class.parent_class.parent_class.finalize(source)
    }
    let elementClass: UnsafeMutablePointer<GstElementClass> = pushClass.cast()
    elementClass.pointee.change_state = { PushSourceType.object(of: $0).changeState($1) }

    let sourceClass: UnsafeMutablePointer<GstBaseSrcClass> = pushClass.cast()
    sourceClass.pointee.negotiate = { PushSourceType.object(of: $0).negotiate() ? 1 : 0 }
    sourceClass.pointee.start = { PushSourceType.object(of: $0).start() ? 1 : 0 }
    sourceClass.pointee.stop = {
      PushSourceType.object(of: $0).stop()
      return 1
    }
    sourceClass.pointee.unlock = {
      PushSourceType.object(of: $0).setFlushing(true)
      return 1
    }
    sourceClass.pointee.unlock_stop = {
      PushSourceType.object(of: $0).setFlushing(false)
      return 1
    }
    sourceClass.pointee.event = { PushSourceType.object(of: $0).handle($1.unsafelyUnwrapped) ? 1 : 0 }
    sourceClass.pointee.query = { PushSourceType.object(of: $0).answer($1.unsafelyUnwrapped) ? 1 : 0 }
    pushClass.pointee.create = { PushSourceType.object(of: $0).create(&$1.unsafelyUnwrapped.pointee) }
  }
}
