/** Answers of `/control` as tests compare them. */

const DETAIL = /,"detail":\{"code":"[A-Z_]+","field":(?:null|"[^"]*"),"message":"(?:[^"\\]|\\.)*"\}/;

/** A rejection less its `detail`: what the wire contract promises of it, to the byte. */
export function withoutDetail(frame: string): string {
  return frame.replace(DETAIL, '');
}
