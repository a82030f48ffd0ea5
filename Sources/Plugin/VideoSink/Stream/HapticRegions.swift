import GStreamerKit
import SDLApp
import SDLAppLink
import SDLLink

/// Touchable rectangles, for head units that want them: from the frames, or from the application.
final class HapticRegions: Sendable {
  /// All in pixels of the input.
  private struct State: Sendable {
    /// The rectangles of the frames; nil before the first frame that has any.
    var ofFrames: [HapticRectangle]?
    /// The size of the turned pictures to which those of the frames belong.
    var framesSize: VideoSize?
    /// The rectangles that the application has set; nil when it never has.
    var own: [HapticRectangle]?
    var turn = PictureTurn.none
    /// Of the turned pictures; nil while it is unknown.
    var pictureSize: VideoSize?

    /// The rectangles of the frames or, while they have none, of the application, as the head unit shows them.
    var list: HapticRectangleList? {
      if let own, ofFrames?.isEmpty ?? true { return HapticRectangleList(turned(own, pictureSize)) }
      return ofFrames.map { HapticRectangleList(turned($0, framesSize), pictureSize: framesSize) }
    }

    private func turned(_ rectangles: [HapticRectangle], _ size: VideoSize?) -> [HapticRectangle] {
      size.map { size in rectangles.map { turn.turned($0, in: size) } } ?? rectangles
    }
  }

  private let connection: AppConnection
  private let state = Monitor(State())
  private let hasWarned = AtomicFlag()

  init(connection: AppConnection) {
    self.connection = connection
  }

  /// Pictures are turned from now on, and have `size` then.
  func setTurn(_ turn: PictureTurn, of size: VideoSize?) {
    change { ($0.turn, $0.pictureSize) = (turn, size) }
  }

  /// The application has set rectangles; nil when it never has. They are read with the lock.
  func setOwn(_ read: () -> [HapticRectangle]?) {
    change { $0.own = read() }
  }

  /// The regions of frames have changed. They stay valid until a frame has others.
  ///
  /// - Parameter pictureSize: of the turned pictures.
  /// - Returns: a warning, if there are too many for the first time.
  func setOfFrames(_ rectangles: [HapticRectangle], pictureSize: VideoSize?) -> ElementError? {
    change { ($0.ofFrames, $0.framesSize) = (rectangles, pictureSize) }
    guard rectangles.count > SendHapticData.maximumCount, !hasWarned.peek else { return nil }
    hasWarned.raise()
    return Self.tooMany("A frame has")
  }

  /// Gives the connection the present rectangles. The lock is kept, so that the last list is the newest; the connection
  /// only stores it.
  private func change(_ body: (inout State) -> Void) {
    state.withLock { state in
      body(&state)
      connection.setHapticRectangles(state.list)
    }
  }

  static func tooMany(_ subject: String) -> ElementError {
    .resource(
      GST_RESOURCE_ERROR_SETTINGS,
      """
      \(subject) more than the \(SendHapticData.maximumCount) touchable rectangles that a head unit accepts: the \
      rest is left out.
      """
    )
  }

  /// The head unit wants rectangles, but not these, or not from this app.
  static func refusal(_ resultCode: String, _ info: String?) -> ElementError {
    let isForbidden = resultCode == ResultCode.disallowed.rawValue
    return .resource(
      isForbidden ? GST_RESOURCE_ERROR_NOT_AUTHORIZED : GST_RESOURCE_ERROR_WRITE,
      "The head unit refuses the touchable rectangles: \(resultCode)\(info.map { ", \($0)" } ?? "").",
      details: "SendHapticData")
  }
}

/// The touchable regions of the frame at hand: GstVideoRegionOfInterestMeta of the type `sdl-haptic`.
struct FrameRegions {
  private static let regionType = g_quark_from_string("sdl-haptic")
  /// One more than is sent, to detect that there were too many.
  private static let mostRegions = SendHapticData.maximumCount + 1

  /// With the ids of the metas.
  private(set) var rectangles: [HapticRectangle] = []

  /// Reads another frame; returns whether its regions differ. Allocates nothing unless they do.
  mutating func update(from buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    var iterator: gpointer?
    var count = 0
    while count < Self.mostRegions, let region = Self.next(buffer, &iterator) {
      guard count < rectangles.count, rectangles[count] == region else {
        rectangles.removeSubrange(count...)
        rectangles.append(region)
        while rectangles.count < Self.mostRegions, let region = Self.next(buffer, &iterator) {
          rectangles.append(region)
        }
        return true
      }
      count += 1
    }
    guard count < rectangles.count else { return false }
    rectangles.removeSubrange(count...)
    return true
  }

  private static func next(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ iterator: inout gpointer?
  ) -> HapticRectangle? {
    let type = gst_video_region_of_interest_meta_api_get_type()
    while let meta = gst_buffer_iterate_meta_filtered(buffer, &iterator, type) {
      let region: UnsafeMutablePointer<GstVideoRegionOfInterestMeta> = meta.cast()
      guard region.pointee.roi_type == regionType else { continue }
      return HapticRectangle(
        id: Int(region.pointee.id), x: Double(region.pointee.x), y: Double(region.pointee.y),
        width: Double(region.pointee.w), height: Double(region.pointee.h))
    }
    return nil
  }
}
