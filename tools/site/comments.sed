# Makes Doxygen read the tree's comments: the first lines of a header are of the file, a comment behind a member is of that member.
1s|^// |/// \\file\n/// |
s|([;,{]) +// |\1  ///< |
s|^( *)// |\1/// |
