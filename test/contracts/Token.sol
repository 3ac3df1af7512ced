// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/** An ERC-20 token whose units can be minted by every caller, for tests of the vault. */
contract Token {
    error InsufficientBalance();
    error InsufficientAllowance();

    event Transfer(address indexed from, address indexed to, uint256 amount);
    event Approval(address indexed holder, address indexed spender, uint256 amount);

    uint8 public decimals;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    constructor(uint8 decimals_) {
        decimals = decimals_;
    }

    function mint(address to, uint256 amount) external {
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Transfer(address(0), to, amount);
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        _move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed < amount) revert InsufficientAllowance();
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - amount;
        _move(from, to, amount);
        return true;
    }

    function _move(address from, address to, uint256 amount) private {
        if (balanceOf[from] < amount) revert InsufficientBalance();
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        emit Transfer(from, to, amount);
    }
}


/** A settler's executor: approves and returns what it is set to, and can call the vault again from within the callback. */
contract Executor {
    uint256 public returns_;
    bytes public reentry;

    function prepare(address token, address vault, uint256 allowance_, uint256 amount, bytes calldata reentry_) external {
        (bool isDone,) = token.call(abi.encodeWithSignature("approve(address,uint256)", vault, allowance_));
        require(isDone, "approve");
        returns_ = amount;
        reentry = reentry_;
    }

    /** Calls the vault as this contract; a revert passes through unchanged. */
    function call(address vault, bytes calldata data) external {
        (bool isDone, bytes memory result) = vault.call(data);
        if (!isDone) _revertWith(result);
    }

    function onAtomicSettlement(address, uint256, bytes calldata) external returns (uint256) {
        if (reentry.length > 0) {
            bytes memory data = reentry;
            (bool isDone, bytes memory result) = msg.sender.call(data);
            if (!isDone) _revertWith(result);
        }
        return returns_;
    }

    function _revertWith(bytes memory result) private pure {
        assembly {
            revert(add(result, 32), mload(result))
        }
    }
}

/** Deposits many times in one transaction, for tests with thousands of deposits. */
contract Depositor {
    function depositMany(address vault, address token, bytes32[] calldata users, uint256 count, uint256 amount) external {
        (bool isApproved,) = token.call(abi.encodeWithSignature("approve(address,uint256)", vault, type(uint256).max));
        require(isApproved, "approve");
        for (uint256 i = 0; i < count; i++) {
            bytes memory data =
                abi.encodeWithSignature("deposit(bytes32,address,uint256)", users[i % users.length], token, amount);
            (bool isDone,) = vault.call(data);
            require(isDone, "deposit");
        }
    }
}
