import GStreamerKit
import SDLApp

/// Displays as the structures of custom queries: `application/x-sdl-video-capability`, see ``CapabilityQuery``.
enum DisplayStructure {
  private static let name = "application/x-sdl-video-capability"
  /// Further entries of an array are not read.
  static let maximumEntryCount = 256

  /// The structure of a display; nil if it has no size that can be encoded.
  static func structure(_ display: VideoDisplay) -> Structure? {
    guard let size = display.streamSize else { return nil }
    let entry = Structure(name)
    entry.set("width", Int32(clamping: size.width))
    entry.set("height", Int32(clamping: size.height))
    entry.set("display-width", Int32(clamping: display.size.width))
    entry.set("display-height", Int32(clamping: display.size.height))
    entry.set("scale", display.scale)
    entry.set("diagonal", display.diagonal)
    entry.set("pixels-per-inch", display.pixelsPerInch)
    if let frameRate = display.frameRate { entry.set("preferred-fps", Int32(clamping: frameRate)) }
    return entry
  }

  /// The displays in the array `field`, without those that can't be read; nil if there is no such array.
  static func displays(_ structure: StructureView, _ field: String) -> [VideoDisplay]? {
    structure.structures(field, limit: maximumEntryCount).map { $0.compactMap(display) }
  }

  /// The display in a structure; nil if it has no size that can be encoded.
  static func display(_ structure: StructureView) -> VideoDisplay? {
    guard let width = structure.integer("display-width"), let height = structure.integer("display-height") else {
      return nil
    }
    let display = VideoDisplay(
      size: VideoSize(Int(width), Int(height)), scale: structure.double("scale"),
      diagonal: structure.double("diagonal"), pixelsPerInch: structure.double("pixels-per-inch"),
      frameRate: structure.integer("preferred-fps").map(Int.init))
    guard let usual = display.streamSize else { return nil }
    // The head unit may have acknowledged another size than it was asked for.
    let stated = VideoSize(
      structure.integer("width").map(Int.init) ?? usual.width,
      structure.integer("height").map(Int.init) ?? usual.height)
    return stated == usual ? display : display.streaming(stated)
  }
}
