extension Duration {
  /// In nanoseconds, as GStreamer's times; clamped at 292 years.
  var nanoseconds: Int {
    let (seconds, attoseconds) = components
    let (product, isProductCut) = Int(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isSumCut) = product.addingReportingOverflow(Int(attoseconds / 1_000_000_000))
    return isProductCut || isSumCut ? (seconds < 0 ? .min : .max) : sum
  }

  /// For users, such as "0.5".
  var inSeconds: String {
    let tenths = nanoseconds / 100_000_000 + (nanoseconds % 100_000_000 >= 50_000_000 ? 1 : 0)
    return "\(tenths / 10).\(tenths % 10)"
  }
}
