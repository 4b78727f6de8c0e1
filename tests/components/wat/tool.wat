;; A tool by hand, for what Rust cannot express. The suite fills in what is in double braces: the
;; memory, further items of the core module, the bodies of its functions, further items of the
;; component, the version it claims, and the bytes of its definition and of its answer.
;;
;; The memory is called $own. Addresses: the definition is at 16, the answer at 64, texts from 256 on, arguments at 32768.
(component
  {{before}}
  (core module $code
    {{imports}}
    {{memory}}
    {{items}}
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      {{realloc}})
    (func (export "describe") (result i32)
      {{describe}})
    (func (export "call") (param i32 i32) (result i32)
      {{call}})
    (func (export "call-done") (param i32)
      {{call-done}})
    (data (memory $own) (i32.const 16) "{{definition}}")
    (data (memory $own) (i32.const 64) "{{answer}}")
    (data (memory $own) (i32.const 256) "{{texts}}"))
  (core instance $code (instantiate $code {{with}}))

  (type $tool-error-shape (variant
    (case "invalid-input" string)
    (case "not-found" string)
    (case "denied" string)
    (case "timed-out" string)
    (case "limit-exceeded" string)
    (case "failed" string)
    (case "crashed" string)))
  (export $tool-error "tool-error" (type $tool-error-shape))
  (type $output-shape (record
    (field "text" string)
    (field "metadata" (list (tuple string string)))))
  (export $output "output" (type $output-shape))
  (type $capability-shape (enum "files-read" "files-write" "http" "process"))
  (export $capability "capability" (type $capability-shape))
  (type $definition-shape (record
    (field "name" string)
    (field "description" string)
    (field "parameters" string)
    (field "mutates" bool)
    (field "capabilities" (list $capability))))
  (export $definition "definition" (type $definition-shape))

  (func $describe (result $definition)
    (canon lift (core func $code "describe")
      (memory (core memory $code "memory"))
      (realloc (core func $code "realloc"))))
  (func $call (param "arguments" string) (result (result $output (error $tool-error)))
    (canon lift (core func $code "call")
      (memory (core memory $code "memory"))
      (realloc (core func $code "realloc"))
      (post-return (core func $code "call-done"))))
  (instance $tool
    (export "describe" (func $describe))
    (export "call" (func $call)))
  (export "xzatoma:tool/tool@{{version}}" (instance $tool)))
