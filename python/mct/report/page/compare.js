// Two reports beside each other.

function comparisonSection() {
  return null;
}
