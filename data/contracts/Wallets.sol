// SPDX-License-Identifier: MIT
// Wallets for tests and benches: one that is right, and every way in which one can be wrong.
pragma solidity ^0.8.28;

/// Accepts what the key of its owner signed. Works as the code of a delegating account (EIP-7702) too: the owner is in the code.
contract OwnedWallet {
    address private immutable owner;

    event Called(address indexed by, uint256 value);

    constructor(address owner_) {
        owner = owner_;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 65) return 0xffffffff;
        bytes32 r = bytes32(signature[0:32]);
        bytes32 s = bytes32(signature[32:64]);
        address signer = ecrecover(hash, uint8(signature[64]), r, s);
        return signer != address(0) && signer == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }

    function note(uint256 value) external {
        emit Called(msg.sender, value);
    }
}

/// Accepts any signature of exactly this length: bytes that are no key's.
contract LengthWallet {
    uint256 private immutable length;

    constructor(uint256 length_) {
        length = length_;
    }

    function isValidSignature(bytes32, bytes calldata signature) external view returns (bytes4) {
        return signature.length == length ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}

/// Answers with these bytes, whatever it is asked; with none it answers nothing.
contract SayingWallet {
    bytes private said;

    constructor(bytes memory said_) {
        said = said_;
    }

    fallback() external {
        bytes memory answer = said;
        assembly {
            return(add(answer, 32), mload(answer))
        }
    }
}

/// Answers the magic value, followed by zeros up to this many bytes.
contract HugeWallet {
    uint256 private immutable size;

    constructor(uint256 size_) {
        size = size_;
    }

    fallback() external {
        uint256 length = size;
        assembly {
            mstore(0, shl(224, 0x1626ba7e))
            return(0, length)
        }
    }
}

/// Reverts with a reason.
contract RevertingWallet {
    fallback() external {
        revert("not today");
    }
}

/// Never ends by itself.
contract EndlessWallet {
    fallback() external {
        while (true) {}
    }
}

/// Ends with an invalid instruction.
contract InvalidWallet {
    fallback() external {
        assembly {
            invalid()
        }
    }
}

/// Writes while it checks. A call may, and nothing of it is kept.
contract CountingWallet {
    uint256 public count;

    function isValidSignature(bytes32, bytes calldata) external returns (bytes4) {
        count++;
        return 0x1626ba7e;
    }
}
