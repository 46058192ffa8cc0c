// SPDX-License-Identifier: MIT
// A token without value, for the embedded chain and test networks: what the faucet gives is minted with it.
pragma solidity 0.8.37;

/// ERC-20 with a minter. It has no constructor, so that its code may be put at any address and set up afterwards; whoever puts it there
/// calls `initialize` in the same breath, for the first call counts.
contract TestToken {
    string public name;
    string public symbol;
    uint8 public decimals;
    address public minter;
    uint256 public totalSupply;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;
    /// Ids that were minted: a minter that does not know whether a transaction went through sends it again.
    mapping(bytes32 id => bool) public minted;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Minted(bytes32 indexed id, address indexed to, uint256 amount);

    error Forbidden();
    error ZeroAddress();
    error AlreadyInitialized();
    error InsufficientBalance(uint256 held);
    error InsufficientAllowance(uint256 allowed);

    function initialize(string calldata name_, string calldata symbol_, uint8 decimals_, address minter_) external {
        if (minter != address(0)) revert AlreadyInitialized();
        if (minter_ == address(0)) revert ZeroAddress();
        name = name_;
        symbol = symbol_;
        decimals = decimals_;
        minter = minter_;
    }

    /// A repeated id does nothing, whatever else is asked for with it.
    function mint(bytes32 id, address to, uint256 amount) external {
        if (msg.sender != minter) revert Forbidden();
        if (to == address(0)) revert ZeroAddress();
        if (minted[id]) return;
        minted[id] = true;
        totalSupply += amount;
        // No balance exceeds the supply, which was checked.
        unchecked { balanceOf[to] += amount; }
        emit Minted(id, to, amount);
        emit Transfer(address(0), to, amount);
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        move(msg.sender, to, amount);
        return true;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
        return true;
    }

    /// An allowance of type(uint256).max is not used up.
    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed < amount) revert InsufficientAllowance(allowed);
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - amount;
        move(from, to, amount);
        return true;
    }

    function move(address from, address to, uint256 amount) private {
        if (to == address(0)) revert ZeroAddress();
        uint256 held = balanceOf[from];
        if (held < amount) revert InsufficientBalance(held);
        unchecked {
            balanceOf[from] = held - amount;
            balanceOf[to] += amount;
        }
        emit Transfer(from, to, amount);
    }
}
