// SPDX-License-Identifier: MIT
// Inclusion in a list whose root was posted.
pragma solidity 0.8.37;

/// leaf = sha256(0x00 || bytes), node = sha256(0x01 || left || right): the first byte keeps a node from being passed off as a leaf. An
/// odd last node goes up unchanged, so that a proof has no sibling at that level. Index and count decide alone where siblings stand, and
/// every sibling must be used: one place has exactly one proof.
library Merkle {
    function includes(bytes32 root, uint256 count, bytes calldata leafBytes, uint256 index, bytes32[] calldata proof)
        internal
        pure
        returns (bool)
    {
        if (index >= count) return false;
        bytes32 hash = sha256(abi.encodePacked(bytes1(0x00), leafBytes));
        uint256 used = 0;
        for (; count > 1; count = (count + 1) / 2) {
            if (index % 2 == 1 || index + 1 < count) {
                if (used == proof.length) return false;
                bytes32 sibling = proof[used++];
                hash = index % 2 == 1 ? node(sibling, hash) : node(hash, sibling);
            }
            index /= 2;
        }
        return used == proof.length && hash == root;
    }

    function node(bytes32 left, bytes32 right) private pure returns (bytes32) {
        return sha256(abi.encodePacked(bytes1(0x01), left, right));
    }
}
