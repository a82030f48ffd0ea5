import GStreamerKit
import SDLApp

/// The touchable regions of the frame at hand: GstVideoRegionOfInterestMeta of the type `sdl-haptic`.
struct FrameRegions {
  private static let regionType = g_quark_from_string("sdl-haptic")
  /// One more than is sent, to tell that there were too many.
  private static let mostRegions = SendHapticData.maximumCount + 1

  /// With the ids as the metas have them.
  private(set) var rectangles: [HapticRectangle] = []

  /// Looks at another frame; says whether its regions differ. Allocates nothing unless they do.
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
