// Placeholder translation unit; removed when the layer has its first source.
