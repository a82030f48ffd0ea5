extension Duration {
  /// In nanoseconds, as GStreamer's times; clamped at 292 years.
  var nanoseconds: Int {
    let (seconds, attoseconds) = components
    let (product, isProductCut) = Int(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isSumCut) = product.addingReportingOverflow(Int(attoseconds / 1_000_000_000))
    return isProductCut || isSumCut ? (seconds < 0 ? .min : .max) : sum
  }
}
