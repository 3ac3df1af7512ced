/** The signature vectors of wire.md 13 and examples.md, and bodies built from them. PK stands for the public key. */

/** wire.md 13: seed 0x42 thirty-two times. */
export const USER_42 = '2152f8d19b791d24453242e15f2eab6cb7cffa7b6a5ed30097960e069881db12';
/** examples.md: RFC 8032, test 1. */
export const USER_9D = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';

/** wire-additions.md 13: seed 0x07 thirty-two times. */
export const USER_07 = 'ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c';

export interface Vector {
  readonly name: string;
  readonly kind:
    | 'create'
    | 'replace'
    | 'cancel'
    | 'transfer'
    | 'close-position'
    | 'withdrawal'
    | 'withdrawal-cancel'
    | 'settlement';
  readonly user: string;
  readonly text: string;
  readonly byteLength: number;
  readonly signature: string;
}

function vector(name: string, kind: Vector['kind'], user: string, row: [string, number, string]): Vector {
  const [text, byteLength, signature] = row;
  return { name, kind, user, text: text.replaceAll('PK', user), byteLength, signature };
}

export const VECTORS: readonly Vector[] = [
  vector('wire.md create', 'create', USER_42, [
    '{"signer":"PK","order_id":"demo-order-1","base_asset":"12","book_price_decimals":2,"book_quantity_decimals":4,"details":{"Limit":{"limit_price":315025,"quantity":25000,"time_in_force":{"GTC":{"post_only":true}}}},"side":"Sell","trigger":null,"creation_timestamp_ns":1770000000000000001,"target":{"account":1,"is_spot":false},"reduce_only":false,"max_trading_fees_rate":50000,"protocol_version":1}',
    458,
    '8baf713f16538435f1b589abc1ab44c8a372c37da7ce74a38d814a955aaa5d73e256059b52b27ddc3bff8baf3afe58778a772ef8641d53066bdc5e366ee6d60b',
  ]),
  vector('wire.md cancel', 'cancel', USER_42, [
    '{"order_id":"demo-order-1","asset_id":"12","signer":"PK","protocol_version":1}',
    140,
    '67790da50c2a2233e7b480e8e78ad810303bbfec197a3c8b871c2d4332fe91680d020dbf6cc326c9f02818b90618c9eca81973375c2dffbf126522b4fcfb4f0e',
  ]),
  vector('wire.md replace', 'replace', USER_42, [
    '{"order_id":"demo-order-1","timestamp_ns":1770000000500000002,"new_price_limit":315100,"new_quantity":null,"new_trigger":null,"book_quantity_decimals":4,"book_price_decimals":2,"protocol_version":1}',
    198,
    '038ba612fb03da1ddd21c64cefb399cbd4c04a956b5373307b680d7f18b85c1a8bc5ad4fd64874b1ecb1dbd5b7cf3702b2e5b7f84c5df7c22805bf1becf86800',
  ]),
  vector('wire-additions.md replace', 'replace', USER_07, [
    '{"order_id":"demo-order-1","base_asset":"12","timestamp_ns":1770000000500000002,"new_price_limit":315100,"new_quantity":25000,"new_trigger":null,"book_quantity_decimals":4,"book_price_decimals":2,"protocol_version":1}',
    217,
    'ae516f44763a0bf93323a654320f96090ae42a011f8a6c06a9c859ad1295ea83be74eb3eea973d9910896d261b594da08fa83c085e4253ee435066b2bd618407',
  ]),
  vector('wire-additions.md replace with a trigger', 'replace', USER_07, [
    '{"order_id":"demo-order-1","base_asset":"12","timestamp_ns":1770000000500000002,"new_price_limit":315100,"new_quantity":25000,"new_trigger":{"PriceAbove":{"price":330000}},"book_quantity_decimals":4,"book_price_decimals":2,"protocol_version":1}',
    244,
    'e23773421338331da62a92f52c5689694da97b4a2ae0768e9fd20fa03efebd55fc20d01b941457a8c3d115975ace74dd43467960b751cbf982c43f8d1ba8150d',
  ]),
  vector('wire.md transfer', 'transfer', USER_42, [
    '{"user":"PK","source_index":0,"target_index":2,"transfer_asset":"0","transfer_amount":"2500000000000000000","target_account_type":null,"nonce":1770000000123}',
    219,
    '39f62285e1023e3a5e09f4c93659c6b57371939340fc1eb1012f58606f27cd771d3dc61f73d4d9ddd8f23baceaccb5921be437f68b2081b3183c3baf51901f02',
  ]),
  vector('wire.md withdrawal', 'withdrawal', USER_42, [
    '{"tplus_user":"PK","asset":"5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a000000000000000000000000@000000000000007a69","amount":"38d7ea4c68000","nonce":0,"target":"7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c000000000000000000000000"}',
    286,
    '9933451f2cce5f395903dbf2f60f4550be7ea3f115af893c5bb3084a1bf2db4b194e69aae472c226189f2adb9e636f5fbd2118049acfdd4020a8e2d6a0943609',
  ]),
  vector('wire.md withdrawal with request id', 'withdrawal', USER_42, [
    '{"tplus_user":"PK","asset":"5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a000000000000000000000000@000000000000007a69","amount":"38d7ea4c68000","nonce":0,"target":"7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c000000000000000000000000","request_id":"request-1"}',
    311,
    '88f999032410a2bdb9d39f903f821c83b37b69c8b785d7d91f508dfa5c35580c207c79db159f4ce2a9a09b8611190dd5a3b643186b4503951f0aa61d32b64309',
  ]),
  vector('wire.md withdrawal cancel of a row', 'withdrawal-cancel', USER_42, [
    '{"tplus_user":"PK","asset_address":"5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a000000000000000000000000@000000000000007a69","nonce":0,"requested_at_ns":1770000004000000000}',
    231,
    'd20fbd2efb70a8371e7e78005f60f778616026c0fba0aea0fe964e1d97240b2ff3b6200a1a1f564ee755089fc8d14df16a56e7c3359f73561e2a872e06ac7a0a',
  ]),
  vector('wire.md settlement with request id', 'settlement', USER_42, [
    '{"tplus_user":"PK","sub_account_index":3,"settler":"PK","mode":"margin","asset_in":"5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a000000000000000000000000","amount_in":"de0b6b3a7640000","asset_out":"6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b000000000000000000000000","amount_out":"9c4","chain_id":"000000000000007a69","nonce":0,"expires_at":null,"mm_pubkey":null,"request_id":"request-1"}',
    504,
    'e196c7a91276151998791231a2f1f7b93a1ed8f7971c0a97047fbe8de3ddf20c92aa7609a3ec442a9596953f9ce7e3f2bc41e424f25bb39dfbd4c68e0b79410a',
  ]),
  vector('wire.md settlement', 'settlement', USER_42, [
    '{"tplus_user":"PK","sub_account_index":3,"settler":"PK","mode":"margin","asset_in":"5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a000000000000000000000000","amount_in":"de0b6b3a7640000","asset_out":"6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b000000000000000000000000","amount_out":"9c4","chain_id":"000000000000007a69","expires_at":null,"mm_pubkey":null}',
    469,
    '8464232a3f8847cee5755a0c251835a0419aba54e87398e4e6548ef607bd44d831a26f791a3ac202699ae0ac98c09a4b31768473d5351bb57b83773d80957f03',
  ]),
  vector('wire.md settlement with nonce', 'settlement', USER_42, [
    '{"tplus_user":"PK","sub_account_index":3,"settler":"PK","mode":"margin","asset_in":"5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a000000000000000000000000","amount_in":"de0b6b3a7640000","asset_out":"6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6b000000000000000000000000","amount_out":"9c4","chain_id":"000000000000007a69","nonce":0,"expires_at":null,"mm_pubkey":null}',
    479,
    '1a80dd209fdd3628d8c5795f7f79d4c796cb9d61926a3f4c886d35503cb35353cc3c8fd1e8b7792f1eeddb75beb9654f6a455141ac0c2ff0818f6ae9f375e908',
  ]),
  vector('V-1', 'create', USER_9D, [
    '{"signer":"PK","order_id":"mm-000001","base_asset":"1","book_price_decimals":2,"book_quantity_decimals":4,"details":{"Limit":{"limit_price":200000,"quantity":15000,"time_in_force":{"GTC":{"post_only":true}}}},"side":"Buy","trigger":null,"creation_timestamp_ns":1760000000123456789,"target":{"account":1,"is_spot":false},"reduce_only":false,"max_trading_fees_rate":1000,"protocol_version":1}',
    452,
    '3d24dc53d81f6c4cae3eba5757df75a19831bbd99c0ce1b41a4417b2adec4cb2539c90f92b2a2a4451df1a5e694001cf61d9c3e163d821fb65b8e5b1e9b2280c',
  ]),
  vector('V-2', 'replace', USER_9D, [
    '{"order_id":"mm-000001","timestamp_ns":1760000001123456789,"new_price_limit":199900,"new_quantity":12000,"new_trigger":null,"book_quantity_decimals":4,"book_price_decimals":2,"protocol_version":1}',
    196,
    'ae770a815e7d45efb5a371b7afb81be770b46878ecf754389e9ad7d4987ae88c28b5a9fddd0ecac359a7427530df709bc8be8a57618ef5e1017f307cc9523c05',
  ]),
  vector('V-3', 'cancel', USER_9D, [
    '{"order_id":"mm-000001","asset_id":"1","signer":"PK","protocol_version":1}',
    136,
    'babae2f3c17af913c1242bcac9435286138d099f3966438c5e9e77e90aadb7d0a99452116b47f8f141c394ecedac1546d884fb46aed676f4b74ba7ddd1c11a0c',
  ]),
  vector('V-4', 'transfer', USER_9D, [
    '{"user":"PK","source_index":0,"target_index":1,"transfer_asset":"0","transfer_amount":"1000000000000000000000","target_account_type":null,"nonce":7}',
    210,
    'eedcdea84bae962c816cb26f0d2a3f4abe638eb80084c0eb2fee92151f3da9a0956463b6bcb89393f9cda750b310bf05c5f393a3e5b5d2d29f39568396e1a005',
  ]),
  vector('V-5 bare name', 'transfer', USER_9D, [
    '{"user":"PK","source_index":0,"target_index":2,"transfer_asset":"0","transfer_amount":"1000000000000000000000","target_account_type":"CrossMargin","nonce":8}',
    219,
    '31c80f5c5b7b85994bbf4ed30e7ce1d84a0ef7992a81a700774dafbe34b93eb49379e8dc41ab8ced624e12c13a6bd5be1ccd79a6e7d3a52ad4ea5d16c5c8d805',
  ]),
  vector('V-5 object', 'transfer', USER_9D, [
    '{"user":"PK","source_index":0,"target_index":2,"transfer_asset":"0","transfer_amount":"1000000000000000000000","target_account_type":{"CrossMargin":null},"nonce":8}',
    226,
    'c22511c35cdbf0a563366f9a3d7703ff7def8d20d21ee4012fd653f981d32869f875c8c7dbefb9ebb2814cb5aa733b79b873cf1e9ecab313b9dbf9718491f70d',
  ]),
  vector('V-6', 'close-position', USER_9D, [
    '{"user":"PK","account":1,"asset_identifier":"1","nonce":1}',
    120,
    '863964c661e420031032b72f540b308910c5ac69c37dbc9aac59c82c4822878ade6731dacb6f01bc0b4977dbdb687c6ae8bbf4f39fe1def09ab60e102f61110a',
  ]),
  vector('V-9', 'create', USER_9D, [
    '{"signer":"PK","order_id":"q3Jk+/9sT0aZ1bYxW2vUtg==","base_asset":"1","book_price_decimals":2,"book_quantity_decimals":4,"details":{"Market":{"quantity":{"BaseAsset":{"quantity":15000,"max_sellable_amount":30000000}},"fill_or_kill":true}},"side":"Buy","trigger":null,"creation_timestamp_ns":1760000000123456789,"target":{"account":0,"is_spot":true},"reduce_only":false,"max_trading_fees_rate":50000,"protocol_version":1}',
    482,
    'bf69f3a321158638a116f9dee3c010bb39b9b6038a6d3f7bb7f746d8f0519e88b955e5ee4c8e504b5baa8b9e9c5694e80844e81a54951ef50269586c6179600d',
  ]),
  vector('V-10', 'create', USER_9D, [
    '{"signer":"PK","order_id":"mm-000002","base_asset":"1","book_price_decimals":2,"book_quantity_decimals":4,"details":{"Limit":{"limit_price":189500,"quantity":15000,"time_in_force":{"GTD":{"post_only":false,"timestamp_ns":1760086400123456789}}}},"side":"Sell","trigger":{"parent_order_id":"mm-000001","condition":{"PriceBelow":{"price":190000}}},"creation_timestamp_ns":1760000000123456791,"target":{"account":1,"is_spot":false},"reduce_only":true,"max_trading_fees_rate":1000,"protocol_version":1}',
    559,
    '985c9a5565e74793163cb5a2cce9287f9c56d53c54070aa82f214bdfaafe8a90f425ca6cb8f00d28643677d2d52bf4a79a64013a9abd5f4bb6ab7e141409aa00',
  ]),
];

/** The create of wire.md 13 and V-1 have their own names, because many tests start from them. */
export function vectorNamed(name: string): Vector {
  const found = VECTORS.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`no vector is called ${name}`);
  return found;
}

const FILLER_SIGNATURE = Array.from({ length: 64 }, (_, index) => (index * 37) % 256);

/** The wrapper of a signable text, with that text in it letter by letter. */
export function wrap(
  kind: Vector['kind'],
  user: string,
  text: string,
  signature: readonly number[] = FILLER_SIGNATURE,
): string {
  const tail = `"signature":[${signature.join(',')}],"post_sign_timestamp":1770000000000400000}`;
  switch (kind) {
    case 'create':
      return `{"order":${text},${tail}`;
    case 'replace':
      return `{"request":${text},"signer":"${user}",${text.includes('"base_asset"') ? '' : '"asset_id":"12",'}${tail}`;
    case 'cancel':
      return `{"cancel":${text},${tail}`;
    default:
      return `{"inner":${text},"signature":[${signature.join(',')}],"additional_signers":[]}`;
  }
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
