import CPangoCairo

/// A picture with a text in white on black, for a head unit to show while the app is in the background.
///
/// The text is wrapped, left aligned (right aligned where its script runs from the right) and centred vertically, in
/// the largest system font, up to 300 pixels, in which it fits between the margins, as in sdl_ios. The picture is black
/// when the text does not fit, and when there is no font or no Pango.
///
/// Several threads may draw pictures at once.
package struct NoticePicture: Equatable, Sendable {
  /// The margin on each side, as a fraction of the width; as in sdl_ios, also that above and below.
  static let inset = 0.05
  /// No encoder takes pictures with longer sides; Cairo's limit is twice this.
  static let longestSide = 16_384

  /// Pixels in a row.
  package let width: Int
  /// Rows.
  package let height: Int
  /// Bytes from one row of `luma` to the next: the width, and up to three more.
  package let lumaStride: Int
  /// 8-bit luma. Black is 16 and white 235, or 0 and 255 in full range (H.273, 8.3). Chroma is 128 everywhere.
  package let luma: [UInt8]
  /// In pixels; nil when the picture is black.
  package let fontSize: Int?

  /// Draws `text` up to ``NoticeText/lengthLimit``. Markup in it is drawn literally.
  ///
  /// - Parameters:
  ///   - width: in pixels, clamped to 1…16384, as is `height`.
  ///   - isFullRange: whether luma uses 0…255 instead of 16…235.
  package init(text: String, width: Int, height: Int, isFullRange: Bool = false) {
    let width = min(max(width, 1), Self.longestSide)
    let height = min(max(height, 1), Self.longestSide)
    // As cairo_format_stride_for_width has it for CAIRO_FORMAT_A8.
    let stride = (width + 3) & ~3
    let levels: ClosedRange<UInt8> = isFullRange ? 0...255 : 16...235
    self.width = width
    self.height = height
    self.lumaStride = stride

    var pixels = [UInt8](repeating: 0, count: stride * height)
    let fontSize = Self.draw(text, in: &pixels, width: width, height: height, stride: stride)
    if fontSize != nil {
      Self.map(&pixels, to: levels)
    } else {
      // Overwrites what a failed attempt may have drawn.
      pixels = [UInt8](repeating: levels.lowerBound, count: stride * height)
    }
    self.luma = pixels
    self.fontSize = fontSize
  }

  /// Draws the coverage of each pixel by the text, from 0 to 255, and returns the size of the font; nil if that failed.
  private static func draw(
    _ text: String, in pixels: inout [UInt8], width: Int, height: Int, stride: Int
  ) -> Int? {
    let text = NoticeText.drawable(text)
    let margin = inset * Double(width)
    let heightLimit = Double(height) - 2 * margin
    guard
      !text.isEmpty, heightLimit > 0, let library = PangoCairo.functions?.pointee,
      let wrapped = WrappedText(text, lineWidth: Double(width) - 2 * margin, library: library),
      let fontSize = FontSize(for: wrapped, heightLimit: heightLimit)
    else { return nil }
    wrapped.set(fontSize: fontSize.pixels, wrap: fontSize.wrap)
    let top = (Double(height) - wrapped.height) / 2
    let isDrawn = pixels.withUnsafeMutableBufferPointer { buffer in
      let surface = library.cairo_image_surface_create_for_data(
        buffer.baseAddress, CAIRO_FORMAT_A8, Int32(width), Int32(height), Int32(stride))
      defer { library.cairo_surface_destroy(surface) }
      guard let cairo = library.cairo_create(surface) else { return false }
      defer { library.cairo_destroy(cairo) }
      // In black, as contexts begin: only opacity counts in a surface of this format.
      wrapped.draw(in: cairo, left: margin, top: top)
      let status = library.cairo_status(cairo)
      library.cairo_surface_finish(surface)
      return status == CAIRO_STATUS_SUCCESS && library.cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS
    }
    return isDrawn ? fontSize.pixels : nil
  }

  private static func map(_ pixels: inout [UInt8], to levels: ClosedRange<UInt8>) {
    let black = Int(levels.lowerBound)
    let contrast = Int(levels.upperBound) - black
    let table = (0...255).map { UInt8(clamping: black + ($0 * contrast + 127) / 255) }
    table.withUnsafeBufferPointer { table in
      pixels.withUnsafeMutableBufferPointer { pixels in
        for index in pixels.indices { pixels[index] = table[Int(pixels[index])] }
      }
    }
  }
}

package enum NoticeText {
  /// The most Unicode scalars of a text that are drawn, which bounds the work. A notice that drivers can read at a
  /// glance is much shorter.
  package static let lengthLimit = 1000

  /// The default text.
  ///
  /// - Parameter appName: as the head unit lists the app; may be empty.
  package static func standard(appName: String) -> String {
    let name = drawable(appName)
    return "To see \(name.isEmpty ? "the app" : name) again, open it on its device when it is safe."
  }

  /// The part of `text` that is laid out: control characters other than line ends become spaces, and white space at
  /// both ends, which would move the text off the centre, is removed.
  static func drawable(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(lengthLimit) {
      let isSpace = scalar != "\n" && scalar.properties.generalCategory == .control
      scalars.append(isSpace ? " " : scalar)
    }
    guard
      let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
      let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
    else { return "" }
    return String(scalars[first...last])
  }
}
