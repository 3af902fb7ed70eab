package javax.annotation;

// What generated classes are marked with; it left the JDK with Java 11, and is a library's now.
public @interface Generated {
  String[] value();

  String date() default "";

  String comments() default "";
}
